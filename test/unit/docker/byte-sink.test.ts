import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { sinkOf } from "../../../runner/docker/byte-sink.ts";

test("a sink whose stream is closed under a write that waits is an error, and so is every write after it", async () => {
  const stream = new PassThrough({ highWaterMark: 4 });
  const sink = sinkOf(stream);
  const waiting = (async () => {
    for (let chunk = 0; chunk < 100; chunk += 1) await sink(Buffer.alloc(16));
  })();
  waiting.catch(() => undefined);
  await new Promise((resolve) => setImmediate(resolve));
  stream.destroy();
  await expect(waiting).rejects.toThrow("closed");
  await expect(sink(Buffer.alloc(1))).rejects.toThrow("destroyed");
});
