import { z } from "zod";
import { messageOf } from "../base/errors.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";

/** Largest `verdict.json` that is read, in bytes. */
export const MAX_VERDICT_BYTES = 256 * 1024;

const check = z.strictObject({ id: z.string().min(1), passed: z.boolean(), detail: z.string().optional() });
const schema = z.strictObject({
  schemaVersion: z.literal("1"),
  checks: z.array(check),
  failed: z.string().min(1).nullable(),
});

/** The verifier's own account of its checks. */
export type Verdict = z.infer<typeof schema>;

export type VerdictReading =
  | { readonly state: "absent" }
  | { readonly state: "valid"; readonly verdict: Verdict }
  | { readonly state: "invalid"; readonly detail: string };

/**
 * Reads the optional `/logs/verifier/verdict.json` strictly: ids are unique, and `failed` is null or names a check that did not pass
 * (null beside failed checks means that they only inform). It explains a reward and never replaces one.
 */
export function readVerdict(bytes: Uint8Array | null): VerdictReading {
  if (bytes === null) return { state: "absent" };
  try {
    const source = "verdict.json";
    const verdict = parseInput(
      schema,
      parseStrictJson(bytes, { source, maxBytes: MAX_VERDICT_BYTES, maxDepth: 8 }),
      source,
    );
    const ids = verdict.checks.map((entry) => entry.id);
    const twice = ids.find((id, index) => ids.indexOf(id) !== index);
    if (twice !== undefined)
      return { state: "invalid", detail: `verdict.json: the check ${JSON.stringify(twice)} is there twice` };
    const named = verdict.checks.find((entry) => entry.id === verdict.failed);
    if (verdict.failed !== null && named?.passed !== false) {
      const seen = named === undefined ? "is not among the checks" : "passed";
      return {
        state: "invalid",
        detail: `verdict.json: failed names the check ${JSON.stringify(verdict.failed)}, which ${seen}`,
      };
    }
    return { state: "valid", verdict };
  } catch (thrown) {
    return { state: "invalid", detail: messageOf(thrown) };
  }
}
