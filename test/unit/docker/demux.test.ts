import fc from "fast-check";
import { expect, test } from "vitest";
import { demultiplex } from "../../../runner/docker/demux.ts";

type Frame = readonly [kind: 0 | 1 | 2, payload: Uint8Array];

function encode(frames: readonly Frame[]): Buffer {
  return Buffer.concat(
    frames.flatMap(([kind, payload]) => {
      const header = Buffer.alloc(8);
      header[0] = kind;
      header.writeUInt32BE(payload.length, 4);
      return [header, payload];
    }),
  );
}

/** Cuts bytes at the given places, so that frames and headers are split anywhere. */
async function* cutAt(bytes: Buffer, places: readonly number[]): AsyncGenerator<Buffer> {
  let from = 0;
  for (const place of [...places.map((at) => at % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
    yield bytes.subarray(from, place);
    from = place;
  }
}

async function collect(source: AsyncIterable<Uint8Array>) {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  await demultiplex(source, {
    stdout: (bytes) => void stdout.push(Buffer.from(bytes)),
    stderr: async (bytes) => {
      const copy = Buffer.from(bytes);
      await Promise.resolve();
      stderr.push(copy);
    },
  });
  return { stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr) };
}

const frame = fc.tuple(fc.constantFrom(0 as const, 1 as const, 2 as const), fc.uint8Array({ maxLength: 40 }));

test("however a multiplexed stream is cut, both streams come out byte for byte (C7)", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(frame), fc.array(fc.nat()), async (frames, places) => {
      const of = (wanted: readonly number[]) =>
        Buffer.concat(frames.filter(([kind]) => wanted.includes(kind)).map(([, payload]) => payload));
      expect(await collect(cutAt(encode(frames), places))).toEqual({ stdout: of([0, 1]), stderr: of([2]) });
    }),
  );
});

test("a stream that ends inside a frame is an error, wherever it is cut", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 20 }), fc.nat(), async (payload, place) => {
      const whole = encode([[1, payload]]);
      const kept = 1 + (place % (whole.length - 1));
      await expect(collect(cutAt(whole.subarray(0, kept), []))).rejects.toMatchObject({ code: "STREAM_TORN" });
    }),
  );
});

test("a stream of a TTY, which has no frames, is refused instead of read as nonsense lengths (C7)", async () => {
  await expect(collect(cutAt(Buffer.from("xxxxxxxxxxxx"), []))).rejects.toMatchObject({
    code: "STREAM_NOT_MULTIPLEXED",
    message: "the engine's output stream has the frame header 7878787878787878",
  });
});

test("a slow sink holds the source back: never more than one chunk is taken ahead", async () => {
  let taken = 0;
  let written = 0;
  const ahead: number[] = [];
  async function* source(): AsyncGenerator<Buffer> {
    for (let index = 0; index < 50; index += 1) {
      taken += 1;
      ahead.push(taken - written);
      yield encode([[1, Buffer.from([index])]]);
    }
  }
  await demultiplex(source(), {
    stdout: async () => {
      await new Promise((resolve) => setImmediate(resolve));
      written += 1;
    },
    stderr: () => undefined,
  });
  expect(Math.max(...ahead)).toBe(1);
});

test("a sink that fails ends the reading with its error", async () => {
  const failure = new Error("disk full");
  await expect(
    demultiplex(cutAt(encode([[1, Buffer.from("a")]]), []), {
      stdout: () => Promise.reject(failure),
      stderr: () => undefined,
    }),
  ).rejects.toBe(failure);
});
