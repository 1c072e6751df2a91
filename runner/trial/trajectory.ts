import type { ModelAgent } from "../agent/model-agent.ts";
import type { AtifTrajectory } from "../base/formats/atif.ts";
import type { Known } from "../base/unknown.ts";
import type { ObjectStore } from "../evidence/store.ts";
import { buildTrajectory } from "../trace/atif.ts";
import type { Trace } from "../trace/read-trace.ts";
import { summariseTrace } from "../trace/summarise.ts";
import type { ReadObject } from "../trace/trace-bodies.ts";
import { readTranscripts } from "./agent-evidence.ts";
import type { TrialRecord } from "./record.ts";

/** The parts of a record that name its trial, and its steps. */
export type TrajectoryTrial = Pick<TrialRecord, "task" | "condition" | "repetition" | "attempt" | "steps">;

/** A trial's trajectory in Harbor's format; unknown, with the reason, where its evidence does not hold one. */
export async function trialTrajectory(
  store: Pick<ObjectStore, "readAll">,
  agent: ModelAgent,
  server: { readonly name: string; readonly tools: readonly string[] },
  { task, condition, repetition, attempt, steps }: TrajectoryTrial,
  { trace, readObject }: { readonly trace: Trace; readonly readObject: ReadObject },
): Promise<Known<AtifTrajectory>> {
  const transcripts = (await readTranscripts(store, agent, server.name, steps)).map(({ transcript }) => transcript);
  const metrics = summariseTrace({
    ...{ trace, readObject, naming: agent.naming(server.name), serverTools: server.tools },
    expectedOperations: null,
  });
  const { name, version } = agent;
  const trial = { task, condition, repetition, attempt };
  return buildTrajectory({ trace, readObject, transcripts, metrics, agent: { name, version }, trial });
}
