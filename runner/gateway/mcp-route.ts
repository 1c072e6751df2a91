import { createHash, type Hash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { messageOf } from "../base/errors.ts";
import { readMcpFrame } from "../base/formats/mcp-messages.ts";
import type { Ended } from "../base/formats/trace-events.ts";
import { agentGone, writeChunk } from "./agent-gone.ts";
import { answerJson } from "./api-errors.ts";
import { CallTracker, toolCalls } from "./call-tracker.ts";
import { forwardedHeaders, headerPairs, headerValue, recordedHeaders } from "./headers.ts";
import { joinUrl } from "./join-url.ts";
import { readBody } from "./read-body.ts";
import type { Session } from "./session.ts";
import { SseFrameSplitter } from "./sse-frames.ts";
import { askUpstream } from "./upstream.ts";

type Refusal = "control" | "closed" | "method" | "too-large" | "budget";

/** Passes MCP over streamable HTTP between the agent and the server, byte for byte, and keeps a copy. */
export class McpRoute {
  readonly #session: Session;
  readonly #tracker = new CallTracker();

  constructor(session: Session) {
    this.#session = session;
  }

  async handle(request: IncomingMessage, response: ServerResponse, search: string): Promise<void> {
    const { config, phase, evidence } = this.#session;
    const exchange = this.#session.nextExchange();
    const method = request.method ?? "?";
    const path = `/mcp${search}`;
    const body = await readBody(request, config.limits.requestBytes);
    const refuse = (reason: Refusal, status: number, answer: unknown) => {
      const kept = Buffer.isBuffer(body) ? evidence.body(body) : null;
      evidence.emit({ type: "mcp-refused", exchange, method, path, reason, status, body: kept });
      if (body === "too-large") response.setHeader("connection", "close");
      answerJson(response, status, answer);
    };
    if (config.mcp === null) return refuse("control", 404, { error: "not found" });
    if (phase !== "open") return refuse("closed", 503, { error: "the trial is not running" });
    if (method !== "POST" && method !== "GET" && method !== "DELETE") {
      return refuse("method", 405, { error: `${method} is no method of streamable HTTP` });
    }
    if (body === "too-large") {
      return refuse("too-large", 413, { error: `more than ${config.limits.requestBytes} bytes` });
    }
    if (body === "gone") return;
    const frame = body.length > 0 ? readMcpFrame(body, "body") : { messages: [], problem: null };
    const calls = toolCalls(frame.messages);
    // A body that cannot be read here may still be a call to the server's reader, so it counts as one.
    const count = frame.problem === null ? calls.length : 1;
    const exhausted = count === 0 ? null : this.#session.ledger.useToolCalls(count);
    if (exhausted !== null) {
      this.#session.exhaust(exhausted, exchange);
      const message = `the trial's budget of ${exhausted.limit} tool calls is exhausted`;
      const id = calls[0] === undefined ? null : JSON.parse(calls[0].id);
      return refuse("budget", 429, { jsonrpc: "2.0", id, error: { code: -32000, message } });
    }
    for (const _ of calls) evidence.countToolCall();
    this.#tracker.toServer(frame.messages);
    await this.#pass(request, response, { exchange, method, path, body, target: joinUrl(config.mcp.url, "", search) });
  }

  async #pass(
    request: IncomingMessage,
    response: ServerResponse,
    {
      exchange,
      method,
      path,
      body,
      target,
    }: Record<"exchange" | "method" | "path", string> & { body: Buffer; target: URL },
  ): Promise<void> {
    const { evidence } = this.#session;
    const headers = headerPairs(request.rawHeaders);
    evidence.emit({ type: "mcp-request", exchange, method, path, headers: recordedHeaders(headers) });
    if (body.length > 0)
      evidence.emit({
        type: "mcp-frame",
        exchange,
        to: "server",
        form: "body",
        body: evidence.body(body),
        late: false,
      });
    const gone = agentGone(response);
    const down = new Downstream(this.#session, this.#tracker, exchange);
    let ended: Ended = "complete";
    let detail: string | null = null;
    try {
      const forwarded = forwardedHeaders(headers, ["host", "content-length", "expect", "accept-encoding"]);
      const upstream = await askUpstream({
        url: target,
        method,
        // The copy is read as it passes, so the server is asked for plain bytes.
        headers: [...forwarded, ["accept-encoding", "identity"]],
        body,
        signal: AbortSignal.any([gone, this.#session.cut]),
      });
      const { status, headers: raw } = upstream;
      evidence.emit({ type: "mcp-response", exchange, status, headers: recordedHeaders(raw) });
      response.sendDate = false;
      response.writeHead(status, forwardedHeaders(raw).flat());
      response.flushHeaders();
      down.begin(headerValue(raw, "content-type") ?? "");
      for await (const chunk of upstream.chunks) {
        if (!down.take(chunk)) {
          ended = "too-large";
          break;
        }
        await writeChunk(response, chunk);
      }
    } catch (thrown) {
      // The cut ends the agent's connection too, so it is asked for first.
      ended = this.#session.cut.aborted ? "cut" : gone.aborted ? "agent-gone" : "upstream-failed";
      detail = messageOf(thrown) || String(thrown);
    }
    const toAgent = down.end();
    if (ended === "upstream-failed") {
      this.#session.once("mcp-failed", { notice: "mcp-failed", exchange, detail: detail ?? "" });
      answerJson(response, 502, { error: "the MCP server cannot be reached" });
    }
    evidence.emit({ type: "mcp-end", exchange, ended, detail, toServer: tally(body), toAgent });
    if (ended === "complete") response.end();
    else if (!response.writableEnded) response.destroy();
  }
}

/** The recording copy of an answer. */
class Downstream {
  readonly #session: Session;
  readonly #tracker: CallTracker;
  readonly #exchange: string;
  readonly #hash: Hash = createHash("sha256");
  readonly #splitter = new SseFrameSplitter();
  #body: Buffer[] = [];
  #sse = false;
  #bytes = 0;

  constructor(session: Session, tracker: CallTracker, exchange: string) {
    this.#session = session;
    this.#tracker = tracker;
    this.#exchange = exchange;
  }

  begin(contentType: string): void {
    this.#sse = contentType.toLowerCase().startsWith("text/event-stream");
  }

  /** Returns false when the answer is larger than the limit: of a whole body, or of one event in a stream. */
  take(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    this.#hash.update(chunk);
    const limit = this.#session.config.limits.responseBytes;
    if (this.#sse) {
      for (const frame of this.#splitter.push(chunk)) this.#keep(frame, "sse");
      return this.#splitter.pending <= limit;
    }
    this.#body.push(chunk);
    return this.#bytes <= limit;
  }

  end(): { bytes: number; digest: `sha256:${string}` } {
    for (const frame of this.#splitter.flush()) this.#keep(frame, "sse");
    if (this.#body.length > 0) this.#keep(Buffer.concat(this.#body), "body");
    this.#body = [];
    return { bytes: this.#bytes, digest: `sha256:${this.#hash.digest("hex")}` };
  }

  #keep(frame: Buffer, form: "sse" | "body"): void {
    const { evidence } = this.#session;
    const late = this.#tracker.expectsLate && this.#tracker.isLate(readMcpFrame(frame, form).messages);
    evidence.emit({ type: "mcp-frame", exchange: this.#exchange, to: "agent", form, body: evidence.body(frame), late });
  }
}

function tally(bytes: Buffer): { bytes: number; digest: `sha256:${string}` } {
  return { bytes: bytes.length, digest: `sha256:${createHash("sha256").update(bytes).digest("hex")}` };
}
