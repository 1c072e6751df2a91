import { type ClientRequest, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { type HeaderList, headerPairs } from "./headers.ts";

export interface UpstreamRequest {
  readonly url: URL;
  readonly method: string;
  /** Without host and content-length, which are set here. */
  readonly headers: HeaderList;
  /** Empty: no body. */
  readonly body: Buffer;
  readonly signal: AbortSignal;
  /** Certificates (PEM) to trust; undefined trusts Node's own. */
  readonly ca?: string[] | undefined;
}

export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: HeaderList;
  /** The body as it arrives. Throws when the connection breaks before the answer's end. */
  readonly chunks: AsyncIterable<Buffer>;
}

const CONNECT_MILLIS = 30_000;

/**
 * Sends one request on a connection of its own and never a second time: a server that closes an idle connection just as a request goes
 * out must not look like a failure, and nothing may be asked twice. Redirects are not followed, bodies are not decoded, and there is no
 * time limit but that of the connection's set-up.
 */
export function askUpstream(options: UpstreamRequest): Promise<UpstreamAnswer> {
  const { url, method, headers, body, signal, ca } = options;
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  const length: HeaderList = body.length > 0 || method === "POST" ? [["content-length", String(body.length)]] : [];
  return new Promise((resolve, reject) => {
    const request = send(url, {
      method,
      // A flat list keeps order and repetitions; Node then adds no host by itself.
      headers: [["host", url.host], ...headers, ...length, ["connection", "close"]].flat() as never,
      agent: false,
      signal,
      ...(ca === undefined ? {} : { ca }),
    });
    limitConnecting(request);
    request.once("error", reject);
    request.once("response", (answer) => {
      // Errors after this come out of the body.
      request.on("error", () => undefined);
      resolve({ status: answer.statusCode ?? 0, headers: headerPairs(answer.rawHeaders), chunks: answer });
    });
    request.end(body.length > 0 ? body : undefined);
  });
}

function limitConnecting(request: ClientRequest): void {
  const timer = setTimeout(
    () => request.destroy(new Error(`no connection within ${CONNECT_MILLIS} ms`)),
    CONNECT_MILLIS,
  );
  request.once("socket", (socket) => socket.once("connect", () => clearTimeout(timer)));
  request.once("close", () => clearTimeout(timer));
}
