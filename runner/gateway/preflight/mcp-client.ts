import { hasCode, messageOf } from "../../base/errors.ts";
import type { PreflightCode } from "../../base/formats/gateway-protocol.ts";
import { textAt } from "../../base/formats/json-access.ts";
import { type McpMessage, readMcpFrame } from "../../base/formats/mcp-messages.ts";
import type { ExactJson } from "../../base/json.ts";
import { type HeaderList, headerValue } from "../headers.ts";
import { SseFrameSplitter } from "../sse-frames.ts";
import { askUpstream } from "../upstream.ts";

/** Why a preflight failed; never reaches a user as it is. */
export class PreflightError extends Error {
  readonly code: PreflightCode;

  constructor(code: PreflightCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "PreflightError";
    this.code = code;
  }
}

export interface McpAnswer {
  readonly result: ExactJson;
  /** The exact bytes of the frame that carried the result. */
  readonly raw: Buffer;
}

export interface McpClientOptions {
  readonly url: string;
  readonly signal: AbortSignal;
  readonly timeoutMillis: number;
  readonly maxBytes: number;
}

/** Just enough of an MCP client to look at a server: it compiles no schema and repairs nothing. */
export class McpClient implements AsyncDisposable {
  readonly #options: McpClientOptions;
  #nextId = 0;
  #session: string | undefined;
  /** Sent with every request once the server has answered initialize. */
  protocolVersion: string | undefined;

  constructor(options: McpClientOptions) {
    this.#options = options;
  }

  async call(method: string, params: ExactJson): Promise<McpAnswer> {
    const id = this.#nextId;
    this.#nextId += 1;
    const { frames } = await this.#post(method, { jsonrpc: "2.0", id, method, params: params as never });
    for await (const { messages, raw, problem } of frames) {
      if (problem !== null)
        throw new PreflightError("protocol-error", `the answer to ${method} is no JSON-RPC: ${problem}`);
      const own = messages.find((message) => isAnswer(message, id));
      if (own?.kind === "result") return { result: own.result, raw };
      if (own?.kind === "error") {
        const said = textAt(own.error, "message") ?? "no message";
        throw new PreflightError("protocol-error", `the server answered ${method} with an error: ${said}`);
      }
    }
    throw new PreflightError("protocol-error", `the server ended its answer to ${method} without a result`);
  }

  async notify(method: string): Promise<void> {
    const { frames } = await this.#post(method, { jsonrpc: "2.0", method });
    for await (const _ of frames);
  }

  /** Ends the server's session, where it keeps one. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#session === undefined) return;
    try {
      const { chunks } = await askUpstream({
        url: new URL(this.#options.url),
        method: "DELETE",
        headers: this.#headers(),
        body: Buffer.alloc(0),
        signal: AbortSignal.timeout(5000),
      });
      for await (const _ of chunks);
    } catch {
      // A server may refuse to end a session, or be gone; the preflight's result does not depend on it.
    }
  }

  async #post(method: string, message: object) {
    const { url, signal, timeoutMillis, maxBytes } = this.#options;
    const timeout = AbortSignal.timeout(timeoutMillis);
    try {
      const { status, headers, chunks } = await askUpstream({
        url: new URL(url),
        method: "POST",
        headers: this.#headers(),
        body: Buffer.from(JSON.stringify(message)),
        signal: AbortSignal.any([signal, timeout]),
      });
      if (status >= 300) {
        const text = await readSome(chunks);
        throw new PreflightError(codeOfStatus(status), `${method} was answered with HTTP ${status}: ${text}`);
      }
      this.#session = headerValue(headers, "mcp-session-id") ?? this.#session;
      const sse = (headerValue(headers, "content-type") ?? "").toLowerCase().startsWith("text/event-stream");
      return { frames: translate(readFrames(chunks, sse, maxBytes), method, timeout, timeoutMillis) };
    } catch (thrown) {
      throw toPreflightError(thrown, method, timeout, timeoutMillis);
    }
  }

  #headers(): HeaderList {
    return [
      ["content-type", "application/json"],
      ["accept", "application/json, text/event-stream"],
      ["accept-encoding", "identity"],
      ...(this.#session === undefined ? [] : [["mcp-session-id", this.#session] as [string, string]]),
      ...(this.protocolVersion === undefined
        ? []
        : [["mcp-protocol-version", this.protocolVersion] as [string, string]]),
    ];
  }
}

interface ReadFrame {
  readonly messages: readonly McpMessage[];
  readonly problem: string | null;
  readonly raw: Buffer;
}

async function* readFrames(body: AsyncIterable<Buffer>, sse: boolean, maxBytes: number): AsyncGenerator<ReadFrame> {
  const splitter = new SseFrameSplitter();
  const parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes) throw new PreflightError("too-large", `an answer is larger than ${maxBytes} bytes`);
    if (!sse) parts.push(chunk);
    else for (const raw of splitter.push(chunk)) yield { ...readMcpFrame(raw, "sse"), raw };
  }
  for (const raw of splitter.flush()) yield { ...readMcpFrame(raw, "sse"), raw };
  const raw = Buffer.concat(parts);
  if (raw.length > 0) yield { ...readMcpFrame(raw, "body"), raw };
}

async function* translate<T>(
  source: AsyncIterable<T>,
  method: string,
  timeout: AbortSignal,
  millis: number,
): AsyncGenerator<T> {
  try {
    yield* source;
  } catch (thrown) {
    throw toPreflightError(thrown, method, timeout, millis);
  }
}

function toPreflightError(thrown: unknown, method: string, timeout: AbortSignal, millis: number): PreflightError {
  if (thrown instanceof PreflightError) return thrown;
  if (timeout.aborted) return new PreflightError("timeout", `no answer to ${method} within ${millis} ms`, thrown);
  const refused = hasCode(thrown, "ECONNREFUSED") ? "the connection was refused" : messageOf(thrown) || String(thrown);
  return new PreflightError("unreachable", `${method} could not be sent: ${refused}`, thrown);
}

function codeOfStatus(status: number): PreflightCode {
  if (status === 401 || status === 403) return "unauthorized";
  return status === 421 ? "misdirected" : "http-status";
}

function isAnswer(message: McpMessage, id: number): boolean {
  return (message.kind === "result" || message.kind === "error") && message.id === String(id);
}

async function readSome(body: AsyncIterable<Buffer>): Promise<string> {
  let text = "";
  for await (const chunk of body) {
    text += chunk.toString("utf8");
    if (text.length > 300) break;
  }
  return JSON.stringify(text.slice(0, 300));
}
