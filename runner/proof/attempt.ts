import type { Pool } from "undici";
import { retryAfter } from "./backoff.ts";
import { readChat } from "./chat-response.ts";

/** What one attempt at the transport came to. */
export type Attempt =
  | { readonly kind: "answered"; readonly body: string }
  /** A status other than 2xx; its body was discarded unread. */
  | { readonly kind: "status"; readonly status: number; readonly retryAfterMs: number | null }
  /** A 2xx that is no chat completion; its body was discarded. */
  | { readonly kind: "no-chat" }
  /** The connection failed, broke off or took too long. */
  | { readonly kind: "network"; readonly neverReached: boolean; readonly code: string };

/** Largest body that is read, in bytes. */
const LARGEST_BODY = 64 * 1024 * 1024;

/** Codes of connections that were never made: the provider has seen nothing of the call. */
const NEVER_REACHED = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENETUNREACH",
  "EHOSTUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "CERT_HAS_EXPIRED",
  "ERR_TLS_CERT_ALTNAME_INVALID",
]);

export interface AttemptOptions {
  readonly path: string;
  readonly key: string | undefined;
  readonly request: string;
  readonly timeoutMs: number;
  /** Attempts in flight, so that their owner can cut them off. */
  readonly active: Set<AbortController>;
}

/** Sends a request once and reads the answer. Never throws for what the network does. */
export async function attemptOnce(pool: Pool, options: AttemptOptions): Promise<Attempt> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new Error("timeout")), options.timeoutMs);
  options.active.add(controller);
  try {
    const response = await pool.request({
      method: "POST",
      path: options.path,
      headers: {
        "content-type": "application/json",
        accept: "application/json",
        "accept-encoding": "identity",
        ...(options.key !== undefined && { authorization: `Bearer ${options.key}` }),
      },
      body: options.request,
      signal: controller.signal,
    });
    if (response.statusCode < 200 || response.statusCode > 299) {
      const header = response.headers["retry-after"];
      // An error body may quote the request or a key, so it is drained and forgotten.
      await response.body.dump({ limit: 64 * 1024 }).catch(() => undefined);
      const asked = retryAfter(typeof header === "string" ? header : undefined, Date.now());
      return { kind: "status", status: response.statusCode, retryAfterMs: asked };
    }
    const body = await readBody(response.body);
    return body === null || readChat(body) === null ? { kind: "no-chat" } : { kind: "answered", body };
  } catch (thrown) {
    const code = codeOf(thrown);
    return { kind: "network", neverReached: NEVER_REACHED.has(code), code };
  } finally {
    clearTimeout(timer);
    options.active.delete(controller);
  }
}

async function readBody(stream: AsyncIterable<Uint8Array>): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.byteLength;
    if (size > LARGEST_BODY) return null;
    chunks.push(chunk);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
  } catch {
    return null;
  }
}

function codeOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return "UNKNOWN";
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return codeOf(thrown.errors[0]);
  return "code" in thrown && typeof thrown.code === "string" ? thrown.code : thrown.name;
}
