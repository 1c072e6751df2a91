import fc from "fast-check";
import { expect, test } from "vitest";
import { makeScanner, needlesOf } from "../../../../runner/task/lint/needles.ts";

const show = (hits: Awaited<ReturnType<ReturnType<typeof makeScanner>>>) =>
  hits.map(({ needle, line }) => `${needle.line}@${line}`).sort();

test("needles are the trimmed lines of 32 bytes or more, each once", () => {
  const line = "x".repeat(32);
  const text = `${line}\n \t${line} \r\n${"y".repeat(31)}\n${"é".repeat(16)}`;
  expect(needlesOf("f", Buffer.from(text)).map(({ bytes, line: at }) => [at, bytes.toString()])).toEqual([
    [1, line],
    [4, "é".repeat(16)],
  ]);
});

test("a needle is found across chunk borders and beyond a batch, with its line", async () => {
  const needles = needlesOf("f", Buffer.from(`${"needle ".repeat(10)}end\nsecond needle, which is long enough too\n`));
  const filler = Buffer.from(`${"z".repeat(99)}\n`.repeat(60_000));
  const whole = Buffer.concat([
    filler,
    Buffer.from(`${"needle ".repeat(10)}end\n`),
    filler,
    Buffer.from("a second needle, which is long enough too"),
  ]);
  const chunks: Buffer[] = [];
  for (let at = 0; at < whole.length; at += 65_537) chunks.push(whole.subarray(at, at + 65_537));
  expect(show(await makeScanner(needles)(chunks))).toEqual(["1@60001", "2@120002"]);
});

test("the scanner finds exactly the needles that a plain search finds, however the bytes are cut", async () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 28, maxLength: 40 });
  const lines = fc.array(word, { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(
      lines,
      lines,
      fc.array(fc.nat(11)),
      fc.integer({ min: 1, max: 50 }),
      async (hidden, other, picks, size) => {
        const seen = other.map((text, index) => `${text}${hidden[picks[index] ?? 99] ?? ""}`).join("\n");
        const needles = needlesOf("f", Buffer.from(hidden.join("\n")));
        const bytes = Buffer.from(seen);
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
          bytes.subarray(index * size, (index + 1) * size),
        );
        const expected = needles.filter((needle) => bytes.includes(needle.bytes));
        const hits = await makeScanner(needles)(chunks);
        expect(new Set(hits.map((hit) => hit.needle))).toEqual(new Set(expected));
        for (const { needle, line } of hits) {
          expect(line).toBe(bytes.subarray(0, bytes.indexOf(needle.bytes)).toString().split("\n").length);
        }
      },
    ),
    { numRuns: 300, seed: 20261130 },
  );
});
