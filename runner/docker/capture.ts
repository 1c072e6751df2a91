import type { ByteSink } from "./byte-sink.ts";

export interface CaptureOptions {
  /** Bytes kept from the beginning. Default 8 MiB. */
  readonly headBytes?: number;
  /** Bytes kept from the end, beyond the head. Default 1 MiB. */
  readonly tailBytes?: number;
  /** Where the head goes instead of memory. */
  readonly head?: ByteSink;
}

/** What was kept of a stream: exact bytes, never decoded. */
export interface Captured {
  /** The first bytes; empty when they went to a sink. */
  readonly head: Buffer;
  readonly headBytes: number;
  /** The last bytes after the head. With `truncated: false` they follow the head directly. */
  readonly tail: Buffer;
  /** The last bytes of all, whether or not they belong to the head. */
  readonly recent: Buffer;
  readonly totalBytes: number;
  /** Bytes between head and tail that were not kept. */
  readonly droppedBytes: number;
  readonly truncated: boolean;
}

/** A bounded recorder of a byte stream; memory stays below head + tail whatever flows through. */
export interface Capture {
  readonly write: ByteSink;
  /** What was kept so far. */
  readonly captured: () => Captured;
}

const DEFAULT_HEAD = 8 * 1024 * 1024;
const DEFAULT_TAIL = 1024 * 1024;

/** Makes a capture. */
export function createCapture(options: CaptureOptions = {}): Capture {
  const headLimit = options.headBytes ?? DEFAULT_HEAD;
  const ring = createRing(options.tailBytes ?? DEFAULT_TAIL);
  const head: Buffer[] = [];
  let headBytes = 0;
  let totalBytes = 0;
  return {
    write: (bytes) => {
      totalBytes += bytes.length;
      ring.push(bytes);
      const room = Math.min(headLimit - headBytes, bytes.length);
      if (room === 0) return;
      headBytes += room;
      const part = bytes.subarray(0, room);
      if (options.head !== undefined) return options.head(part);
      // A copy, because the source may reuse its buffer and a view would keep a larger one alive.
      head.push(Buffer.from(part));
    },
    captured: () => {
      const recent = ring.bytes();
      const beyond = totalBytes - headBytes;
      const tail = recent.subarray(Math.max(0, recent.length - beyond));
      const droppedBytes = beyond - tail.length;
      return {
        head: Buffer.concat(head),
        headBytes,
        tail,
        recent,
        totalBytes,
        droppedBytes,
        truncated: droppedBytes > 0,
      };
    },
  };
}

/** The last `limit` bytes of what is pushed. */
function createRing(limit: number): { push: (bytes: Buffer) => void; bytes: () => Buffer } {
  let ring: Buffer | undefined;
  let at = 0;
  let total = 0;
  return {
    push: (bytes) => {
      if (limit === 0) return;
      total += bytes.length;
      ring ??= Buffer.allocUnsafe(limit);
      let rest = bytes.length > limit ? bytes.subarray(bytes.length - limit) : bytes;
      while (rest.length > 0) {
        const copied = rest.copy(ring, at);
        at = (at + copied) % limit;
        rest = rest.subarray(copied);
      }
    },
    bytes: () => {
      if (ring === undefined) return Buffer.alloc(0);
      if (total < limit) return Buffer.from(ring.subarray(0, total));
      return Buffer.concat([ring.subarray(at), ring.subarray(0, at)]);
    },
  };
}

/** The last `maxBytes` of a capture as text for people: whole characters, invalid bytes replaced. */
export function tailText({ recent, totalBytes }: Captured, maxBytes = 4096): string {
  let start = Math.max(0, recent.length - maxBytes);
  if (start > 0 || totalBytes > recent.length) {
    // Not in the middle of a character: at most three continuation bytes follow a cut.
    for (let skipped = 0; skipped < 3 && ((recent[start] ?? 0) & 0xc0) === 0x80; skipped += 1) start += 1;
  }
  return recent.subarray(start).toString("utf8");
}
