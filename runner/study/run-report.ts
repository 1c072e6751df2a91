import { z } from "zod";
import { digestSchema, objectRefSchema } from "../evidence/object-ref.ts";
import { OUTCOMES } from "../trial/record.ts";

const trialEntrySchema = z.strictObject({
  number: z.int().min(1),
  attempt: z.int().min(1),
  record: objectRefSchema,
});

/** The root document of a run's bundle. Everything in it is derived from the records, the plan and the ledger, or binds them by digest. */
export const runReportSchema = z.strictObject({
  schemaVersion: z.literal("1"),
  kind: z.literal("run"),
  runId: z.string(),
  studyId: z.string(),
  condition: z.enum(["control", "treatment"]),
  evidenceClass: z.string(),
  causalClaimAuthorized: z.literal(false),
  /** Part of the study's tasks or other repetitions than it says. */
  subset: z.boolean(),
  /** `interleaved`: both conditions ran in one order drawn from the seed; `separate`: this one ran alone. */
  order: z.enum(["interleaved", "separate"]),
  /** Where the model's words came from; a scripted model's outcome is no model's achievement. */
  modelSource: z.enum(["live", "replayed", "scripted", "none"]),
  plan: objectRefSchema,
  /** The ledger's bytes up to the line that closes the run. */
  ledger: z.strictObject({ digest: digestSchema, size: z.int().min(0), head: digestSchema }),
  trials: z.array(trialEntrySchema),
  /** Earlier attempts of trials that have a later one. */
  superseded: z.array(trialEntrySchema),
  /** Attempts that were begun and never sealed, each followed by a later one; left out when there is none. */
  cutOff: z.array(z.strictObject({ number: z.int().min(1), attempt: z.int().min(1) })).optional(),
  /** What such attempts had stored before they ended; left out when there is nothing. */
  unsealed: z.array(objectRefSchema).optional(),
  /** The run's earlier reports, each by the anchor that a resumption superseded; left out for a run that was sealed once. */
  earlier: z.array(objectRefSchema).optional(),
  /** Oracle evidence of each task, copied into the bundle. */
  oracle: z.record(z.string(), objectRefSchema),
  /** Image ids and facts of the machine that ran it. */
  host: z.record(z.string(), z.unknown()),
  images: z.record(z.string(), z.unknown()),
  /** What the treatment's server must advertise; in control, whose tools must not be seen. */
  lockedSurface: objectRefSchema,
  /** The surface of the MCP server as the run's preflight saw it; null in control. */
  observedSurface: objectRefSchema.nullable(),
  /** The cassette that answered in each trial, by trial number; empty when a provider did. */
  cassettes: z.record(z.string(), objectRefSchema),
  outcomes: z.record(z.enum(OUTCOMES), z.int().min(0)),
  /** One derived line per trial, in the order of the trials. */
  rows: objectRefSchema,
  startedAt: z.string(),
  finishedAt: z.string(),
});

export type RunReport = z.infer<typeof runReportSchema>;
