import fc from "fast-check";
import { expect, test } from "vitest";
import { redact, secretBytes } from "../../../runner/evidence/redact.ts";

async function clean(
  text: Buffer,
  secrets: readonly string[],
  sizes: readonly number[],
): Promise<{ text: string; found: number }> {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    let at = 0;
    for (let index = 0; at < text.length; index += 1) {
      const size = sizes[index % sizes.length] ?? 1;
      yield text.subarray(at, at + size);
      at += size;
    }
  }
  let found = 0;
  const parts: Uint8Array[] = [];
  for await (const part of redact(chunks(), secretBytes(secrets), () => {
    found += 1;
  }))
    parts.push(part);
  return { text: Buffer.concat(parts).toString("utf8"), found };
}

test("a secret goes however it is cut into chunks, and nothing else does (G9)", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom("sk-secret-0001", "dtn_another-key", "sk-secret-000", "plain ", "é", "sk-"), {
        maxLength: 12,
      }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
      async (words, sizes) => {
        const text = words.join("");
        const { text: result } = await clean(Buffer.from(text), ["sk-secret-0001", "dtn_another-key"], sizes);
        expect(result).toBe(text.replaceAll(/sk-secret-0001|dtn_another-key/g, "[REDACTED]"));
      },
    ),
    { numRuns: 300 },
  );
});

test("short values are left alone, and a stream without secrets keeps its bytes", async () => {
  expect(secretBytes(["short", null, undefined, "long-enough", "long-enough"])).toEqual([Buffer.from("long-enough")]);
  expect(await clean(Buffer.from("a short text"), ["short"], [3])).toEqual({ text: "a short text", found: 0 });
});
