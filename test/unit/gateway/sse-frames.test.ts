import fc from "fast-check";
import { expect, test } from "vitest";
import { SseFrameSplitter } from "../../../runner/gateway/sse-frames.ts";

function split(chunks: readonly Buffer[]): Buffer[] {
  const splitter = new SseFrameSplitter();
  return [...chunks.flatMap((chunk) => splitter.push(chunk)), ...splitter.flush()];
}

test.each([
  ["\n", ["data: a\n\n", "data: b\ndata: c\n\n", "id: 1"]],
  ["\r\n", ["data: a\r\n\r\n", "event: x\r\ndata: b\r\n\r\n", ": ping\r\n"]],
  ["\r", ["data: a\r\r", "data: b\r\r", "data"]],
])("a stream with line ends %j is cut after each blank line", (_end, frames) => {
  expect(split([Buffer.from(frames.join(""))]).map(String)).toEqual(frames);
});

test("frames do not depend on where chunks end, and joined they are the stream", () => {
  const piece = fc.constantFrom("data: é\n", "\n", "\r\n", "\r", "x", ": c\r\n", "—");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), fc.array(fc.nat(20), { maxLength: 30 }), (pieces, sizes) => {
      const stream = Buffer.from(pieces.join(""));
      const chunks: Buffer[] = [];
      let at = 0;
      for (const size of sizes) {
        chunks.push(stream.subarray(at, at + size));
        at = Math.min(stream.length, at + size);
      }
      chunks.push(stream.subarray(at));
      const whole = split([stream]).map(String);
      expect(split(chunks).map(String)).toEqual(whole);
      expect(whole.join("")).toBe(stream.toString());
    }),
  );
});
