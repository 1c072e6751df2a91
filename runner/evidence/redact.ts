/** Shorter values are too common in ordinary text to be taken out of it. */
const SHORTEST = 8;
const MARK = Buffer.from("[REDACTED]");

/** The values of a run's secrets that are long enough to be looked for, longest first. */
export function secretBytes(values: readonly (string | null | undefined)[]): Buffer[] {
  const found = values.filter((value): value is string => typeof value === "string" && value.length >= SHORTEST);
  return [...new Set(found)].map((value) => Buffer.from(value, "utf8")).sort((a, b) => b.length - a.length);
}

/**
 * Takes exact secret values out of a stream, also when a value is split over chunks. `found` is called once per value taken out. A stream
 * without secrets passes unchanged.
 */
export async function* redact(
  source: AsyncIterable<Uint8Array>,
  secrets: readonly Buffer[],
  found: () => void,
): AsyncGenerator<Uint8Array> {
  const longest = secrets[0]?.length ?? 0;
  if (longest === 0) {
    yield* source;
    return;
  }
  let held: Buffer = Buffer.alloc(0);
  for await (const chunk of source) {
    const { clean, rest } = takeOut(Buffer.concat([held, chunk]), secrets, longest - 1, found);
    if (clean.length > 0) yield clean;
    // A copy: the source may use its buffer again.
    held = Buffer.from(rest);
  }
  const { clean } = takeOut(held, secrets, 0, found);
  if (clean.length > 0) yield clean;
}

/** Everything that cannot be the beginning of a secret, cleaned; the last `keep` bytes wait for what follows. */
function takeOut(
  bytes: Buffer,
  secrets: readonly Buffer[],
  keep: number,
  found: () => void,
): { readonly clean: Buffer; readonly rest: Buffer } {
  const parts: Buffer[] = [];
  let at = 0;
  for (;;) {
    const next = firstOf(bytes, secrets, at);
    if (next === undefined) break;
    found();
    parts.push(bytes.subarray(at, next.start), MARK);
    at = next.end;
  }
  const end = Math.max(at, bytes.length - keep);
  parts.push(bytes.subarray(at, end));
  return { clean: Buffer.concat(parts), rest: bytes.subarray(end) };
}

function firstOf(
  bytes: Buffer,
  secrets: readonly Buffer[],
  from: number,
): { readonly start: number; readonly end: number } | undefined {
  let best: { start: number; end: number } | undefined;
  for (const secret of secrets) {
    const start = bytes.indexOf(secret, from);
    if (start !== -1 && (best === undefined || start < best.start)) best = { start, end: start + secret.length };
  }
  return best;
}
