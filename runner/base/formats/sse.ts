import { createParser } from "eventsource-parser";

export interface ServerSentEvent {
  readonly event: string | undefined;
  readonly data: string;
}

/** The events of a whole or truncated stream; an event without its closing blank line does not count (WHATWG, "dispatch"). */
export function parseServerSentEvents(bytes: Uint8Array): ServerSentEvent[] {
  const events: ServerSentEvent[] = [];
  const parser = createParser({ onEvent: ({ event, data }) => events.push({ event, data }) });
  parser.feed(new TextDecoder("utf-8").decode(bytes));
  return events;
}
