import { lookup as systemLookup } from "node:dns/promises";
import { type ClientRequest, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { messageOf } from "../base/errors.ts";
import type { Ended } from "../base/formats/trace-events.ts";
import { type AllowList, readAllowList } from "./allow-rules.ts";
import { answerJson } from "./api-errors.ts";
import { forwardedHeaders, headerPairs } from "./headers.ts";
import { isPublicAddress } from "./public-address.ts";
import type { Session } from "./session.ts";

/** Resolves a name to its addresses. */
export type Lookup = (host: string) => Promise<readonly string[]>;

const resolveAll: Lookup = async (host) => (await systemLookup(host, { all: true })).map(({ address }) => address);

interface Decision {
  readonly exchange: string;
  /** null: refused. */
  readonly address: string | null;
}

/** The way to an allow-list's hosts: CONNECT, and plain HTTP in absolute form. Everything else about the world stays out of reach. */
export class ForwardProxy {
  readonly #session: Session;
  readonly #allow: AllowList;
  readonly #lookup: Lookup;

  constructor(session: Session, allow: readonly string[], lookup: Lookup = resolveAll) {
    this.#session = session;
    this.#allow = readAllowList(allow);
    this.#lookup = lookup;
  }

  /** `CONNECT host:port`. */
  async connect(request: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    client.on("error", () => client.destroy());
    const target = readAuthority(request.url ?? "");
    if (target === null) return void client.end("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
    const { exchange, address } = await this.#decide("CONNECT", target.host, target.port);
    if (address === null) return void client.end("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n");
    const upstream = connect({ host: address, port: target.port });
    let connected = false;
    upstream.once("connect", () => {
      connected = true;
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      if (head.length > 0) upstream.write(head);
      client.pipe(upstream);
      upstream.pipe(client);
    });
    upstream.on("error", () => {
      if (!connected && !client.destroyed) client.end("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n");
      else client.destroy();
    });
    const ended = await tunnelEnd(client, upstream, this.#session.cut);
    this.#end(exchange, ended, upstream.bytesWritten, upstream.bytesRead);
  }

  /** `GET http://host/path` and its like. */
  async forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = request.url ?? "";
    const url = URL.canParse(target) ? new URL(target) : null;
    if (url === null || url.protocol !== "http:")
      return answerJson(response, 400, { error: "expected an http: address" });
    const port = url.port === "" ? 80 : Number(url.port);
    const host = url.hostname.replace(/^\[|\]$/g, "");
    const { exchange, address } = await this.#decide(request.method ?? "?", host, port);
    if (address === null) return answerJson(response, 403, { error: "this host is not on the task's allow-list" });
    const upstream = httpRequest({
      host: address,
      port,
      method: request.method ?? "GET",
      path: `${url.pathname}${url.search}`,
      headers: [...forwardedHeaders(headerPairs(request.rawHeaders), ["host"]), ["host", url.host]].flat(),
      agent: false,
      signal: this.#session.cut,
    });
    const { ended, sent, received } = await relayHttp(request, response, upstream);
    this.#end(exchange, ended, sent, received);
  }

  /** The address is resolved once, here, judged, and then connected to as it is: a second look-up could give another one. */
  async #decide(method: string, rawHost: string, port: number): Promise<Decision> {
    const { evidence, phase } = this.#session;
    const exchange = this.#session.nextExchange();
    const host = rawHost.toLowerCase().replace(/\.$/, "");
    const say = (rule: string | null, reason: string, address: string | null): Decision => {
      evidence.emit({ type: "proxy", exchange, method, host, port, allowed: address !== null, rule, reason, address });
      return { exchange, address };
    };
    if (phase !== "open") return say(null, "the trial is not running", null);
    const rule = this.#allow.byName(host, port);
    if (rule === null) return say(null, "no rule names this host and port", null);
    let addresses: readonly string[];
    try {
      addresses = isIP(host) === 0 ? await this.#lookup(host) : [host];
    } catch (thrown) {
      return say(rule, `the name cannot be resolved: ${messageOf(thrown)}`, null);
    }
    for (const address of addresses) {
      if (isPublicAddress(address) || this.#allow.byAddress(address, port) !== null)
        return say(rule, "allowed", address);
    }
    return say(rule, `not a public address, and no rule names it: ${addresses.join(", ") || "none"}`, null);
  }

  #end(exchange: string, ended: Ended, toServerBytes: number, toAgentBytes: number): void {
    this.#session.evidence.emit({ type: "proxy-end", exchange, ended, toServerBytes, toAgentBytes });
  }
}

function readAuthority(text: string): { host: string; port: number } | null {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:/@\s]+)):([0-9]{1,5})$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  return host === undefined ? null : { host, port: Number(match?.[3]) };
}

function tunnelEnd(client: Duplex, upstream: Socket, cut: AbortSignal): Promise<Ended> {
  return new Promise((resolve) => {
    let ended: Ended = "complete";
    const stop = () => {
      ended = "cut";
      client.destroy();
      upstream.destroy();
    };
    cut.addEventListener("abort", stop, { once: true });
    upstream.on("error", () => {
      ended = ended === "cut" ? ended : "upstream-failed";
    });
    client.once("close", () => upstream.destroy());
    upstream.once("close", () => {
      cut.removeEventListener("abort", stop);
      client.end();
      resolve(ended);
    });
  });
}

function relayHttp(
  request: IncomingMessage,
  response: ServerResponse,
  upstream: ClientRequest,
): Promise<{ ended: Ended; sent: number; received: number }> {
  return new Promise((resolve) => {
    let sent = 0;
    let received = 0;
    let settled = false;
    const finish = (ended: Ended) => {
      if (settled) return;
      settled = true;
      resolve({ ended, sent, received });
    };
    request.on("data", (chunk: Buffer) => {
      sent += chunk.length;
    });
    request.pipe(upstream);
    upstream.once("response", (answer) => {
      response.sendDate = false;
      response.writeHead(answer.statusCode ?? 502, forwardedHeaders(headerPairs(answer.rawHeaders)).flat());
      answer.on("data", (chunk: Buffer) => {
        received += chunk.length;
      });
      answer.once("end", () => finish("complete"));
      answer.once("error", () => response.destroy());
      answer.pipe(response);
    });
    upstream.on("error", () => {
      finish("upstream-failed");
      if (response.headersSent) response.destroy();
      else answerJson(response, 502, { error: "the host cannot be reached" });
    });
    response.once("close", () => {
      if (!response.writableFinished) upstream.destroy();
      finish("agent-gone");
    });
  });
}
