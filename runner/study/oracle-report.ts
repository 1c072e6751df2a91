import { z } from "zod";
import { digestSchema, objectRefSchema } from "../evidence/object-ref.ts";
import { OUTCOMES } from "../trial/record.ts";

const rewards = z.record(z.string(), z.number()).nullable();

/** The root document of a validation run's bundle. */
export const oracleReportSchema = z.strictObject({
  schemaVersion: z.literal("1"),
  kind: z.literal("oracle"),
  runId: z.string(),
  ledger: digestSchema,
  tasks: z.array(
    z.strictObject({
      task: z.string(),
      state: z.enum(["valid", "invalid", "refused", "failed"]),
      problems: z.array(z.string()),
      warnings: z.array(z.string()),
      digests: z.record(z.string(), digestSchema),
      key: digestSchema.nullable(),
      runs: z.array(
        z.strictObject({
          role: z.string(),
          outcome: z.enum(OUTCOMES),
          reward: z.number().nullable(),
          rewards,
          failedCheck: z.string().nullable(),
          cause: z.strictObject({ code: z.string(), detail: z.string() }).nullable(),
          seconds: z.number(),
          record: objectRefSchema,
        }),
      ),
      seconds: z.number(),
    }),
  ),
  startedAt: z.string(),
  finishedAt: z.string(),
});

export type OracleReport = z.infer<typeof oracleReportSchema>;
