/** Splits a byte stream on `\n` only (never on U+2028, U+0085 or `\r`); a last line without `\n` is yielded with `terminated: false`. */
export async function* readLines(
  source: AsyncIterable<Uint8Array>,
  maxLineBytes = 64 * 1024 * 1024,
): AsyncGenerator<{ readonly bytes: Buffer; readonly terminated: boolean }> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of source) {
    let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      parts.push(rest.subarray(0, end));
      yield { bytes: Buffer.concat(parts), terminated: true };
      parts = [];
      length = 0;
      rest = rest.subarray(end + 1);
    }
    if (rest.length > 0) {
      // The source may reuse its buffer, and the rest outlives this turn.
      parts.push(Buffer.from(rest));
      length += rest.length;
      if (length > maxLineBytes) throw new RangeError(`a line is longer than ${maxLineBytes} bytes`);
    }
  }
  if (length > 0) yield { bytes: Buffer.concat(parts), terminated: false };
}
