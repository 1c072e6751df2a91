import type { ObjectStore } from "../evidence/store.ts";
import type { TrialRecord } from "../trial/record.ts";

const BYTES = 600;

/** The end of what the last step's verifier printed, for messages; empty when it printed nothing. */
export async function verifierWords(store: Pick<ObjectStore, "readAll">, record: TrialRecord): Promise<string> {
  const verifier = record.steps.at(-1)?.verifier;
  if (verifier == null) return "";
  const ends = [verifier.stdout, verifier.stderr].map(async ({ head, tail }) =>
    (await store.readAll(tail ?? head)).subarray(-BYTES).toString("utf8").trim(),
  );
  return (await Promise.all(ends)).filter((words) => words !== "").join("\n");
}
