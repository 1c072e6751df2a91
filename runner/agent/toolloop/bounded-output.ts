/** Keeps the beginning and the end of a byte stream within a bound, and counts what fell out between them. */
export class BoundedOutput {
  readonly #half: number;
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #total = 0;

  constructor(maxBytes: number) {
    this.#half = Math.floor(maxBytes / 2);
  }

  push(chunk: Buffer): void {
    this.#total += chunk.length;
    const room = Math.max(0, this.#half - this.#headBytes);
    if (room > 0) {
      this.#head.push(Buffer.from(chunk.subarray(0, room)));
      this.#headBytes += Math.min(room, chunk.length);
    }
    if (chunk.length <= room) return;
    this.#tail.push(Buffer.from(chunk.subarray(Math.max(room, chunk.length - this.#half))));
    this.#tailBytes += Math.min(chunk.length - room, this.#half);
    if (this.#tailBytes > 2 * this.#half) this.#compact();
  }

  /** The text, with a mark that says how many bytes are left out; bytes that are not UTF-8 become U+FFFD. */
  text(): string {
    this.#compact();
    const head = Buffer.concat(this.#head);
    const tail = Buffer.concat(this.#tail);
    if (this.#total === head.length + tail.length) return Buffer.concat([head, tail]).toString("utf8");
    const [first, last] = [wholeEnd(head), wholeStart(tail)];
    const omitted = this.#total - first.length - last.length;
    return `${first.toString("utf8")}\n[... ${omitted} bytes left out ...]\n${last.toString("utf8")}`;
  }

  #compact(): void {
    const joined = Buffer.concat(this.#tail);
    const kept = joined.subarray(Math.max(0, joined.length - this.#half));
    this.#tail = [Buffer.from(kept)];
    this.#tailBytes = kept.length;
  }
}

/** Leaves out a character that the cut split at the end. */
function wholeEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}

/** Leaves out the rest of a character that the cut split at the beginning. */
function wholeStart(bytes: Buffer): Buffer {
  let start = 0;
  while (start < Math.min(3, bytes.length) && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.subarray(start);
}
