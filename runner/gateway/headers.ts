/** Headers as name and value pairs, names in lower case, in the order of arrival. */
export type HeaderList = [string, string][];

const HOP_BY_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

const RECORDED = new Set([
  "accept",
  "anthropic-beta",
  "anthropic-version",
  "content-encoding",
  "content-length",
  "content-type",
  "last-event-id",
  "location",
  "mcp-protocol-version",
  "mcp-session-id",
  "openai-beta",
  "openai-processing-ms",
  "request-id",
  "retry-after",
  "retry-after-ms",
  "user-agent",
  "www-authenticate",
  "x-request-id",
  "x-should-retry",
]);

/** Turns Node's flat list of raw headers into pairs. */
export function headerPairs(raw: readonly (string | Buffer)[]): HeaderList {
  const pairs: HeaderList = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    pairs.push([String(raw[index]).toLowerCase(), Buffer.from(raw[index + 1] ?? "").toString("latin1")]);
  }
  return pairs;
}

/** The headers that a trace may keep. */
export function recordedHeaders(headers: HeaderList): HeaderList {
  return headers.filter(([name]) => RECORDED.has(name) || name.startsWith("x-ratelimit-"));
}

/** Leaves out what belongs to one connection only (RFC 9110, 7.6.1), and the named ones. */
export function forwardedHeaders(headers: HeaderList, without: readonly string[] = []): HeaderList {
  const named = headers
    .filter(([name]) => name === "connection")
    .flatMap(([, value]) => value.split(",").map((token) => token.trim().toLowerCase()));
  const dropped = new Set([...HOP_BY_HOP, ...named, ...without]);
  return headers.filter(([name]) => !dropped.has(name));
}

export function headerValue(headers: HeaderList, name: string): string | undefined {
  return headers.find(([key]) => key === name)?.[1];
}
