/** Shortest line, in bytes, that counts as a leak. */
export const LEAST_BYTES = 32;

/** Longest part of a line that is compared, in bytes. */
const MOST_BYTES = 1024 * 1024;
const BASE = 0x01000193;
const BATCH_BYTES = 4 * 1024 * 1024;

/** One line of a hidden file. */
export interface Needle {
  readonly bytes: Buffer;
  /** The hidden file. */
  readonly file: string;
  readonly line: number;
}

/** Where a needle was found. */
export interface Hit {
  readonly needle: Needle;
  /** 1-based line in what was scanned. */
  readonly line: number;
}

/** The lines of a text that are long enough, without surrounding blanks; each distinct line once. */
export function needlesOf(file: string, bytes: Uint8Array): readonly Needle[] {
  const needles = new Map<string, Needle>();
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let line = 0;
  for (let start = 0; start < buffer.length; ) {
    const found = buffer.indexOf(10, start);
    const end = found === -1 ? buffer.length : found;
    line += 1;
    const trimmed = trim(buffer.subarray(start, end));
    start = end + 1;
    if (trimmed.length < LEAST_BYTES) continue;
    const needle = { bytes: trimmed.subarray(0, MOST_BYTES), file, line };
    const key = needle.bytes.toString("latin1");
    if (!needles.has(key)) needles.set(key, needle);
  }
  return [...needles.values()];
}

function trim(line: Buffer): Buffer {
  let start = 0;
  let end = line.length;
  while (start < end && isBlank(line[start])) start += 1;
  while (end > start && isBlank(line[end - 1])) end -= 1;
  return line.subarray(start, end);
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}

/** Looks for many needles at once in a stream of bytes, wherever they stand in a line. */
export type Scanner = (source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) => Promise<readonly Hit[]>;

/**
 * Makes a scanner (Rabin and Karp: a rolling hash over the first 32 bytes of each needle, then a comparison). Each needle is reported once
 * per source, at its first place. Memory stays within a few MiB beyond the longest needle, whatever the source's size.
 */
export function makeScanner(needles: readonly Needle[]): Scanner {
  const byHash = new Map<number, Needle[]>();
  const filter = new Uint8Array(1 << 16);
  let longest = LEAST_BYTES;
  for (const needle of needles) {
    const hash = hashOf(needle.bytes);
    byHash.set(hash, [...(byHash.get(hash) ?? []), needle]);
    filter[hash & 0xffff] = 1;
    longest = Math.max(longest, needle.bytes.length);
  }
  let dropFactor = 1;
  for (let index = 1; index < LEAST_BYTES; index += 1) dropFactor = Math.imul(dropFactor, BASE);

  return async (source) => {
    if (needles.length === 0) return [];
    const hits = new Map<Needle, number>();
    let pending: Uint8Array[] = [];
    let pendingBytes = 0;
    let carried: Buffer = Buffer.alloc(0);
    let lines = 1;

    /** Scans all start positions below `limit` and keeps the rest. */
    const scan = (buffer: Buffer, limit: number): void => {
      let hash = 0;
      let counted = 0;
      const last = Math.min(limit, buffer.length - LEAST_BYTES + 1);
      for (let at = 0; at < last; at += 1) {
        hash =
          at === 0
            ? hashOf(buffer)
            : (Math.imul(hash - Math.imul(buffer[at - 1] ?? 0, dropFactor), BASE) +
                (buffer[at + LEAST_BYTES - 1] ?? 0)) |
              0;
        if (filter[hash & 0xffff] !== 1) continue;
        for (const needle of byHash.get(hash) ?? []) {
          const end = at + needle.bytes.length;
          if (hits.has(needle) || end > buffer.length || needle.bytes.compare(buffer, at, end) !== 0) continue;
          lines += count(buffer, counted, at);
          counted = at;
          hits.set(needle, lines);
        }
      }
      const kept = Math.max(0, Math.min(limit, buffer.length));
      lines += count(buffer, counted, kept);
      carried = Buffer.from(buffer.subarray(kept));
    };

    for await (const chunk of source) {
      // A stream may reuse its buffer, so what waits is copied.
      pending.push(Buffer.from(chunk));
      pendingBytes += chunk.length;
      if (pendingBytes < BATCH_BYTES) continue;
      const buffer = Buffer.concat([carried, ...pending]);
      pending = [];
      pendingBytes = 0;
      scan(buffer, Math.max(0, buffer.length - longest));
    }
    const rest = Buffer.concat([carried, ...pending]);
    scan(rest, rest.length);
    return [...hits].map(([needle, line]) => ({ needle, line }));
  };
}

function hashOf(bytes: Uint8Array): number {
  let hash = 0;
  for (let index = 0; index < LEAST_BYTES; index += 1) hash = (Math.imul(hash, BASE) + (bytes[index] ?? 0)) | 0;
  return hash;
}

function count(buffer: Buffer, from: number, to: number): number {
  let total = 0;
  for (let at = buffer.indexOf(10, from); at !== -1 && at < to; at = buffer.indexOf(10, at + 1)) total += 1;
  return total;
}
