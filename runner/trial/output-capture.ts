import { PassThrough } from "node:stream";
import { type ByteSink, sinkOf } from "../docker/byte-sink.ts";
import { type Captured, createCapture, tailText } from "../docker/capture.ts";
import type { ObjectStore } from "../evidence/store.ts";
import type { CaptureRecord } from "./record.ts";

/** Keeps a stream's head in the store while it flows, and its tail in memory until it ends. Disposing it unfinished drops the head. */
export interface OutputCapture extends Disposable {
  readonly sink: ByteSink;
  /** Ends the head and stores the tail. */
  readonly finish: () => Promise<CaptureRecord>;
  /** The last words, for messages. */
  readonly lastWords: () => string;
}

/** Starts capturing one stream. */
export function captureOutput(store: ObjectStore): OutputCapture {
  const head = new PassThrough();
  const stored = store.putStream(head);
  // A store that cannot write must fail whoever writes to the head, not leave them waiting.
  stored.catch((thrown: unknown) => head.destroy(thrown instanceof Error ? thrown : new Error(String(thrown))));
  head.on("error", () => undefined);
  const capture = createCapture({ head: sinkOf(head) });
  return {
    [Symbol.dispose]: () => {
      if (!head.writableEnded) head.destroy(new Error("abandoned"));
    },
    sink: async (bytes) => {
      try {
        await capture.write(bytes);
      } catch (thrown) {
        // The head closes because the store failed; that is the error to tell.
        await stored;
        throw thrown;
      }
    },
    lastWords: () => tailText(capture.captured(), 2000).trim(),
    finish: async () => {
      head.end();
      const kept: Captured = capture.captured();
      return {
        head: await stored,
        tail: kept.tail.length === 0 ? null : await store.put(kept.tail),
        bytes: kept.totalBytes,
        truncated: kept.truncated,
      };
    },
  };
}
