import { z } from "zod";
import { digestSchema, objectRefSchema } from "../evidence/object-ref.ts";

const fileSchema = z.strictObject({ path: z.string().min(1), digest: digestSchema, size: z.int().min(0) });

/** The root document of a proof-benchmark bundle. Scores and calls in it are for readers; a check derives them again. */
export const proofReportSchema = z.strictObject({
  schemaVersion: z.literal("1"),
  kind: z.literal("proof"),
  task: z.enum(["prover", "verifier"]),
  runId: z.string().regex(/^[0-9a-f]{64}$/),
  modelSource: z.enum(["live", "replayed", "scripted"]),
  causalClaimAuthorized: z.literal(false),
  cautions: z.array(z.string()),
  metrics: z.record(z.enum(["all", "ugd", "qe"]), z.record(z.string(), z.number().nullable()).nullable()),
  calls: z.record(z.string(), z.unknown()),
  data: objectRefSchema,
  prompts: z.record(z.string(), objectRefSchema),
  source: z.record(z.string(), z.unknown()),
  host: z.record(z.string(), z.unknown()),
  files: z.array(fileSchema),
  finishedAt: z.string(),
});

export type ProofReport = z.infer<typeof proofReportSchema>;

/** A manifest as a check needs it; its digest is what proves that the rest is as it was. */
export const manifestSchema = z.looseObject({
  task: z.enum(["prover", "verifier"]),
  data_sha256: z.string(),
  selected_rows: z.int().min(1),
  config: z.record(z.string(), z.unknown()),
  settings: z.strictObject({
    samples: z.int().min(1),
    verifier_repeats: z.int().min(1),
    meta: z.boolean(),
    domain: z.enum(["all", "ugd", "qe"]),
    limit: z.int().min(1).nullable(),
    use_reference_solution: z.boolean(),
  }),
  analysis: z.strictObject({ seed: z.int().min(0), resamples: z.int().min(1) }),
  prompt_sha256: z.record(z.string(), z.string()),
  code_sha256: z.string(),
  model_source: z.enum(["live", "replayed", "scripted"]),
  run_id: z.string(),
});
