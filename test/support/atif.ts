import { z } from "zod";
import { isUnknown } from "../../runner/base/unknown.ts";
import type { TrialRecord } from "../../runner/trial/record.ts";
import { readObject } from "./e2e.ts";

/**
 * The rules of ATIF as Harbor 0.25's own models enforce them (`harbor/models/trajectories`, the newest of which is v1.8): what must be there,
 * of which type, what may stand beside it (nothing), and how parts refer to one another. Of content only text is here: the runner writes no
 * other.
 */
const extra = z.record(z.string(), z.unknown()).nullish();
const count = z.int();

const toolCall = z.strictObject({
  tool_call_id: z.string(),
  function_name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  extra,
});

const result = z.strictObject({ source_call_id: z.string().nullish(), content: z.string().nullish(), extra });

const metrics = z.strictObject({
  prompt_tokens: count.nullish(),
  completion_tokens: count.nullish(),
  cached_tokens: count.nullish(),
  cost_usd: z.number().nullish(),
  extra,
});

/** Members that a step of the system or the user must not have. */
const AGENT_ONLY = ["model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics"] as const;

const step = z
  .strictObject({
    step_id: z.int().min(1),
    timestamp: z.iso.datetime({ offset: true, local: true }).nullish(),
    source: z.enum(["system", "user", "agent"]),
    model_name: z.string().nullish(),
    reasoning_effort: z.union([z.string(), z.number()]).nullish(),
    message: z.string(),
    reasoning_content: z.string().nullish(),
    tool_calls: z.array(toolCall).nullish(),
    observation: z.strictObject({ results: z.array(result) }).nullish(),
    metrics: metrics.nullish(),
    is_copied_context: z.boolean().nullish(),
    llm_call_count: z.int().min(0).nullish(),
    extra,
  })
  .superRefine((value, context) => {
    const refuse = (message: string) => context.addIssue({ code: "custom", message });
    for (const member of AGENT_ONLY) {
      if (value.source !== "agent" && value[member] != null) refuse(`${member} belongs to steps of the agent`);
    }
    const modelled = value.metrics != null || value.reasoning_content != null;
    if (value.source === "agent" && value.llm_call_count === 0 && modelled) refuse("no model took part in this step");
    const calls = new Set(value.tool_calls?.map(({ tool_call_id: id }) => id));
    for (const { source_call_id: id } of value.observation?.results ?? []) {
      if (id != null && !calls.has(id)) refuse(`the result of ${id} is of no call of this step`);
    }
  });

export const atifSchema = z
  .strictObject({
    schema_version: z.string().regex(/^ATIF-v1\.[0-8]$/),
    session_id: z.string().nullish(),
    trajectory_id: z.string().nullish(),
    agent: z.strictObject({
      name: z.string(),
      version: z.string(),
      model_name: z.string().nullish(),
      tool_definitions: z.array(z.record(z.string(), z.unknown())).nullish(),
      extra,
    }),
    steps: z.array(step).min(1),
    notes: z.string().nullish(),
    final_metrics: z
      .strictObject({
        total_prompt_tokens: count.nullish(),
        total_completion_tokens: count.nullish(),
        total_cached_tokens: count.nullish(),
        total_cost_usd: z.number().nullish(),
        total_steps: z.int().min(0).nullish(),
        extra,
      })
      .nullish(),
    continued_trajectory_ref: z.string().nullish(),
    extra,
  })
  .superRefine(({ steps }, context) => {
    for (const [index, { step_id: id }] of steps.entries()) {
      if (id !== index + 1) context.addIssue({ code: "custom", message: `step ${id} is the ${index + 1}th` });
    }
  });

export type CheckedTrajectory = z.infer<typeof atifSchema>;

/** A trial's trajectory, held against the rules. */
export async function trajectoryOf(bundle: string, record: TrialRecord | undefined): Promise<CheckedTrajectory> {
  const kept = record?.trajectory;
  if (kept === undefined || isUnknown(kept)) throw new Error(`no trajectory: ${JSON.stringify(kept)}`);
  return atifSchema.parse(JSON.parse((await readObject(bundle, kept)).toString("utf8")));
}
