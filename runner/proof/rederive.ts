import { readFile } from "node:fs/promises";
import { z } from "zod";
import { parseStrictJson } from "../base/strict-json.ts";
import { type ObjectRef, objectRefSchema } from "../evidence/object-ref.ts";
import { pretty } from "./output-folder.ts";
import type { Protocol, Unit } from "./protocol.ts";
import { type Answer, buildRecord } from "./record.ts";
import { recordPath } from "./request.ts";
import type { ProofRecord } from "./terms.ts";

const replySchema = z.looseObject({
  error: z.string().nullable(),
  attempts: z.int().min(1),
  micros: z.int().min(0),
  redacted: z.boolean(),
  raw: objectRefSchema.nullable(),
});

/** The part of a record that is evidence, not derivation: what each call came to and where its bytes are. */
const evidenceSchema = z.looseObject({
  policy_response: replySchema.optional(),
  verifier_trials: z.array(
    z.looseObject({
      response: replySchema,
      meta: z.looseObject({ response: replySchema.nullable() }).optional(),
    }),
  ),
});

type Evidence = z.infer<typeof replySchema>;

/** A record made again, or what is wrong with the one in the bundle. */
export type Rederived =
  | { readonly record: ProofRecord; readonly raw: readonly ObjectRef[] }
  | { readonly problem: string };

/** Makes a unit's record again from the raw replies that it refers to, and compares every byte. */
export async function rederive(
  dir: string,
  protocol: Protocol,
  unit: Unit,
  read: (ref: ObjectRef) => Promise<Buffer>,
): Promise<Rederived> {
  const path = recordPath(dir, unit.key);
  const text = await readFile(path, "utf8");
  const evidence = evidenceSchema.safeParse(
    parseStrictJson(text, { source: path, maxBytes: Number.POSITIVE_INFINITY }),
  );
  if (!evidence.success) return { problem: `records/${unit.key}.json: is not the record of calls` };
  const raw: ObjectRef[] = [];
  const answer = async ({ error, attempts, micros, redacted, raw: ref }: Evidence): Promise<Answer> => {
    if (ref !== null) raw.push(ref);
    // A reply with an error of the transport has no bytes; any other has them, or its text came from nowhere.
    const body = ref === null ? null : (await read(ref)).toString("utf8");
    return {
      outcome: { error: body === null ? (error ?? "missing") : null, body, attempts, micros, redacted },
      raw: ref,
    };
  };
  const { policy_response: policy, verifier_trials: trials } = evidence.data;
  if (trials.length !== 0 && trials.length !== protocol.settings.verifier_repeats) {
    return {
      problem: `records/${unit.key}.json: has ${trials.length} of ${protocol.settings.verifier_repeats} judgments`,
    };
  }
  const verifier: Answer[] = [];
  const meta: (Answer | undefined)[] = [];
  for (const trial of trials) {
    verifier.push(await answer(trial.response));
    meta.push(trial.meta?.response ? await answer(trial.meta.response) : undefined);
  }
  const answers = { policy: policy === undefined ? undefined : await answer(policy), verifier, meta };
  if (protocol.task === "prover" && answers.policy === undefined) {
    return { problem: `records/${unit.key}.json: has no reply of the policy` };
  }
  const record = buildRecord(protocol, unit, answers);
  if (pretty(record) !== text) return { problem: `records/${unit.key}.json: differs from what its raw replies give` };
  const complete = record.verifier_trials.length === (record.generation_error ? 0 : protocol.settings.verifier_repeats);
  return complete ? { record, raw } : { problem: `records/${unit.key}.json: judgments are missing` };
}
