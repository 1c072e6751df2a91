import type { Writable } from "node:stream";

/** Takes bytes in order; a returned promise holds the producer back. The bytes may be reused afterwards. */
export type ByteSink = (bytes: Buffer) => void | Promise<void>;

/** Drops everything. */
export const discard: ByteSink = () => undefined;

/** Writes to a stream and honours its back-pressure. The caller ends the stream. */
export function sinkOf(stream: Writable): ByteSink {
  return (bytes) =>
    new Promise((resolve, reject) => {
      stream.write(bytes, (failure) => (failure ? reject(failure) : resolve()));
    });
}

/** Gives the same bytes to several sinks, one after the other. */
export function tee(...sinks: readonly ByteSink[]): ByteSink {
  return async (bytes) => {
    for (const sink of sinks) await sink(bytes);
  };
}
