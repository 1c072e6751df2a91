import fc from "fast-check";
import { expect, test } from "vitest";
import { redact, redactStream, secretForms } from "../../../runner/gateway/secrets.ts";

const SECRET = "sk-aab-aab-0123";

async function streamed(chunks: readonly Buffer[], secret: string): Promise<string> {
  const parts: Buffer[] = [];
  const source = (async function* () {
    yield* chunks;
  })();
  for await (const part of redactStream(source, secretForms(secret))) parts.push(part);
  return Buffer.concat(parts).toString();
}

test("every occurrence is replaced and counted, also the form that JSON gives it", () => {
  const secret = 'pass"word\\1';
  const bytes = Buffer.from(`${secret} {"k":${JSON.stringify(secret)}}`);
  const { bytes: clean, count } = redact(bytes, secretForms(secret));
  expect([clean.toString(), count]).toEqual(['[redacted] {"k":"[redacted]"}', 2]);
});

test("bytes without a secret stay the same object", () => {
  const bytes = Buffer.from("nothing here");
  expect(redact(bytes, secretForms(SECRET)).bytes).toBe(bytes);
  expect(secretForms(null)).toEqual([]);
});

test("a stream is redacted alike wherever its chunks end", async () => {
  const piece = fc.constantFrom(SECRET, "sk-aab", "sk-aab-aab", "-", "x", "0123", "é");
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { maxLength: 12 }),
      fc.array(fc.nat(9), { maxLength: 20 }),
      async (pieces, sizes) => {
        const bytes = Buffer.from(pieces.join(""));
        const chunks: Buffer[] = [];
        let at = 0;
        for (const size of sizes) {
          chunks.push(bytes.subarray(at, at + size));
          at = Math.min(bytes.length, at + size);
        }
        chunks.push(bytes.subarray(at));
        expect(await streamed(chunks, SECRET)).toBe(redact(bytes, secretForms(SECRET)).bytes.toString());
      },
    ),
  );
});
