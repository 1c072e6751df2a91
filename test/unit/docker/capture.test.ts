import fc from "fast-check";
import { expect, test } from "vitest";
import { createCapture, tailText } from "../../../runner/docker/capture.ts";

const chunks = fc.array(fc.uint8Array({ maxLength: 30 }));

test("a capture keeps exactly the head and the tail, and counts every byte (C8)", async () => {
  await fc.assert(
    fc.asyncProperty(chunks, fc.nat(40), fc.nat(40), fc.boolean(), async (parts, headBytes, tailBytes, sunk) => {
      const all = Buffer.concat(parts);
      const sink: Buffer[] = [];
      const capture = createCapture({
        headBytes,
        tailBytes,
        ...(sunk ? { head: (bytes: Buffer) => void sink.push(Buffer.from(bytes)) } : {}),
      });
      for (const part of parts) {
        const reused = Buffer.from(part);
        await capture.write(reused);
        reused.fill(0xff);
      }
      const head = all.subarray(0, headBytes);
      const beyond = all.subarray(head.length);
      const tail = beyond.subarray(Math.max(0, beyond.length - tailBytes));
      expect({ ...capture.captured(), sink: Buffer.concat(sink) }).toEqual({
        head: sunk ? Buffer.alloc(0) : head,
        sink: sunk ? head : Buffer.alloc(0),
        headBytes: head.length,
        tail,
        recent: all.subarray(Math.max(0, all.length - tailBytes)),
        totalBytes: all.length,
        droppedBytes: beyond.length - tail.length,
        truncated: beyond.length > tail.length,
      });
    }),
  );
});

test("two gigabytes pass through a capture without staying in memory (C8)", async () => {
  const capture = createCapture();
  const chunk = Buffer.alloc(64 * 1024, "y\n");
  const before = process.memoryUsage();
  let peak = 0;
  for (let sent = 0; sent < 2 * 1024 ** 3; sent += chunk.length) {
    await capture.write(chunk);
    if (sent % (64 * 1024 * 1024) === 0) peak = Math.max(peak, process.memoryUsage().arrayBuffers);
  }
  const { totalBytes, headBytes, tail, truncated } = capture.captured();
  expect({ totalBytes, headBytes, tail: tail.length, truncated }).toEqual({
    totalBytes: 2 * 1024 ** 3,
    headBytes: 8 * 1024 * 1024,
    tail: 1024 * 1024,
    truncated: true,
  });
  expect(peak - before.arrayBuffers).toBeLessThan(32 * 1024 * 1024);
});

test("the tail as text begins with a whole character", async () => {
  const capture = createCapture({ headBytes: 2, tailBytes: 8 });
  await capture.write(Buffer.from("€€€€"));
  expect(tailText(capture.captured())).toBe("€€");
  expect(tailText(capture.captured(), 4)).toBe("€");
});

test("the tail as text is there when the head went to a sink and nothing was dropped", async () => {
  const capture = createCapture({ head: () => undefined });
  await capture.write(Buffer.from("the last words\n"));
  expect(tailText(capture.captured())).toBe("the last words\n");
});
