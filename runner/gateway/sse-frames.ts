const LF = 10;
const CR = 13;

/**
 * Cuts a server-sent event stream after each blank line without changing a byte: the frames, joined, are the stream. Line ends may be
 * `\n`, `\r\n` or `\r`, and chunks may end anywhere.
 */
export class SseFrameSplitter {
  #parts: Buffer[] = [];
  #length = 0;
  #lineIsEmpty = true;
  #afterCr = false;
  /** A blank line ended with `\r`; a `\n` that follows still belongs to it. */
  #closing = false;

  /** Bytes of the unfinished frame. */
  get pending(): number {
    return this.#length;
  }

  push(chunk: Buffer): Buffer[] {
    const frames: Buffer[] = [];
    let start = 0;
    const cut = (end: number) => {
      this.#keep(chunk.subarray(start, end));
      start = end;
      frames.push(...this.flush());
    };
    for (let index = 0; index < chunk.length; index += 1) {
      const byte = chunk[index];
      if (this.#closing && byte !== LF) cut(index);
      if (byte === LF && this.#afterCr) {
        this.#afterCr = false;
        if (this.#closing) cut(index + 1);
        continue;
      }
      this.#afterCr = byte === CR;
      if (byte !== LF && byte !== CR) {
        this.#lineIsEmpty = false;
        continue;
      }
      const blank = this.#lineIsEmpty;
      this.#lineIsEmpty = true;
      if (blank && byte === LF) cut(index + 1);
      else if (blank) this.#closing = true;
    }
    this.#keep(chunk.subarray(start));
    return frames;
  }

  /** What is left when the stream ends. */
  flush(): Buffer[] {
    this.#closing = false;
    if (this.#length === 0) return [];
    const frame = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#length = 0;
    return [frame];
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#parts.push(bytes);
    this.#length += bytes.length;
  }
}
