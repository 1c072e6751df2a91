import type { Writable } from "node:stream";

/** Takes bytes in order; a returned promise holds the producer back. The bytes may be reused afterwards. */
export type ByteSink = (bytes: Buffer) => void | Promise<void>;

/** Drops everything. */
export const discard: ByteSink = () => undefined;

/** Writes to a stream and honours its back-pressure. The caller ends the stream. */
export function sinkOf(stream: Writable): ByteSink {
  return (bytes) =>
    new Promise((resolve, reject) => {
      // A transforming stream forgets the write that is under way when it is closed.
      const closed = (): void => reject(stream.errored ?? new Error("the stream was closed under a write"));
      stream.once("close", closed);
      stream.write(bytes, (failure) => {
        stream.off("close", closed);
        if (failure) reject(failure);
        else resolve();
      });
    });
}

/** Gives the same bytes to several sinks, one after the other. */
export function tee(...sinks: readonly ByteSink[]): ByteSink {
  return async (bytes) => {
    for (const sink of sinks) await sink(bytes);
  };
}
