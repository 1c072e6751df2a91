import { z } from "zod";
import { parseInput } from "../base/zod-input.ts";
import { ANALYSIS_METHODS, type AnalysisPlan } from "../stats/plan.ts";
import type { Multiplicity } from "../stats/secondary.ts";
import type { Plan } from "./plan.ts";

const analysisSchema = z.strictObject({
  primary: z.literal("reward"),
  method: z.enum(ANALYSIS_METHODS),
  alpha: z.number().gt(0).lt(1),
  missing: z.literal("drop-pair"),
  minCoverage: z.number().min(0).max(1),
  maxDropImbalance: z.number().min(0).max(1),
  /** How several secondary metrics are handled; Holm's adjustment unless the plan says otherwise. */
  multiplicity: z.enum(["holm", "none"]).optional(),
});

/** The analysis that a plan froze. @throws RunnerError `INPUT_INVALID`. */
export function readAnalysis(plan: Plan): { readonly plan: AnalysisPlan; readonly multiplicity: Multiplicity } {
  const { method, alpha, missing, minCoverage, maxDropImbalance, multiplicity } = parseInput(
    analysisSchema,
    plan.analysis,
    "the plan's analysis",
  );
  return {
    plan: { method, alpha, missing, minCoverage, maxDropImbalance },
    multiplicity: multiplicity ?? "holm",
  };
}
