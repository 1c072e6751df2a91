import { RunnerError } from "../base/errors.ts";
import type { ByteSink } from "./byte-sink.ts";

/** Where the two output streams of a process go. */
export interface OutputSinks {
  readonly stdout: ByteSink;
  readonly stderr: ByteSink;
}

const HEADER = 8;

/**
 * Takes the engine's multiplexed stream apart (Docker Engine API, "attach", stream format): frames of an 8-byte header — kind, three
 * zero bytes, big-endian length — and a payload. Headers and payloads may be split anywhere; payload bytes are handed on as they
 * come, and a slow sink holds the source back. Only for processes without a TTY: a TTY's stream has no frames.
 * @throws RunnerError `STREAM_TORN` when the source ends inside a frame, `STREAM_NOT_MULTIPLEXED` on bytes that are no frame.
 */
export async function demultiplex(source: AsyncIterable<Uint8Array>, sinks: OutputSinks): Promise<void> {
  const header = Buffer.alloc(HEADER);
  let filled = 0;
  let sink: ByteSink = sinks.stdout;
  let remaining = 0;
  for await (const chunk of source) {
    let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    while (rest.length > 0) {
      if (remaining === 0) {
        const copied = rest.copy(header, filled, 0, HEADER - filled);
        filled += copied;
        rest = rest.subarray(copied);
        if (filled < HEADER) break;
        sink = sinkFor(header, sinks);
        remaining = header.readUInt32BE(4);
        filled = 0;
        continue;
      }
      const payload = rest.subarray(0, remaining);
      remaining -= payload.length;
      rest = rest.subarray(payload.length);
      await sink(payload);
    }
  }
  if (remaining > 0 || filled > 0) {
    throw new RunnerError("environment", "STREAM_TORN", "the engine's output stream ended inside a frame", {
      details: { missingPayloadBytes: remaining, headerBytes: filled },
    });
  }
}

function sinkFor(header: Buffer, sinks: OutputSinks): ByteSink {
  const kind = header[0];
  const padded = header[1] === 0 && header[2] === 0 && header[3] === 0;
  if (padded && (kind === 0 || kind === 1)) return sinks.stdout;
  if (padded && kind === 2) return sinks.stderr;
  throw new RunnerError(
    "environment",
    "STREAM_NOT_MULTIPLEXED",
    `the engine's output stream has the frame header ${header.toString("hex")}`,
    { hint: "Only a process without a TTY has separate output streams." },
  );
}
