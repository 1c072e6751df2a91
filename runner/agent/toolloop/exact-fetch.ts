import { randomUUID } from "node:crypto";
import { Agent, fetch as undiciFetch } from "undici";
import type { ExactJson } from "../../base/json.ts";

export interface ExactFetch {
  readonly fetch: typeof globalThis.fetch;
  /** Prepares a value for JSON.stringify so that integers of any size reach the wire with every digit. */
  readonly carry: (value: ExactJson) => unknown;
  readonly close: () => Promise<void>;
}

/**
 * A fetch without time limits of its own, for calls that may take as long as the study allows. Integers beyond 2^53 - 1 travel through
 * JSON.stringify as marked strings, and the marks are taken off in the body's text. `onStreamEnd` is called when the event stream that
 * answered a POST is over, unless its events carry ids, with which it can be taken up again.
 */
export function makeExactFetch(onStreamEnd: () => void): ExactFetch {
  const mark = `integer-${randomUUID()}:`;
  const marked = new RegExp(`"${mark}(-?[0-9]+)"`, "g");
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0, pipelining: 0 });
  const carry = (value: ExactJson): unknown => {
    if (typeof value === "bigint") return `${mark}${value}`;
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((member: ExactJson) => carry(member));
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, carry(member)]));
  };
  const exact = async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    const body = typeof init.body === "string" ? init.body.replace(marked, "$1") : null;
    const answer = await undiciFetch(input, { ...(init as object), ...(body === null ? {} : { body }), dispatcher });
    const streamed = answer.headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (init.method !== "POST" || !streamed || answer.body === null) return answer as unknown as Response;
    const watched = ReadableStream.from(watch(answer.body as AsyncIterable<Uint8Array>, onStreamEnd));
    return new Response(watched, { status: answer.status, headers: [...answer.headers] });
  };
  return { fetch: exact as typeof globalThis.fetch, carry, close: () => dispatcher.destroy() };
}

async function* watch(source: AsyncIterable<Uint8Array>, onEnd: () => void): AsyncGenerator<Uint8Array> {
  let resumable = false;
  let last = "\n";
  try {
    for await (const chunk of source) {
      const text = last + Buffer.from(chunk).toString("latin1");
      resumable ||= /[\r\n]id:/.test(text);
      last = text.slice(-4);
      yield chunk;
    }
  } finally {
    if (!resumable) onEnd();
  }
}
