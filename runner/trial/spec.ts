import type { ModelAgent } from "../agent/model-agent.ts";
import type { Digest } from "../base/digest.ts";
import type { Budgets, Prices } from "../base/formats/budgets.ts";
import type { ModelApi } from "../base/formats/common.ts";
import type { Surface } from "../base/formats/surface.ts";
import type { Task, Trap } from "../task/model.ts";
import type { Cause } from "./record.ts";

/** Who does the work of a trial. */
export type AgentPlan =
  /** Does nothing. */
  | { readonly kind: "nop" }
  /** Runs the reference solution. */
  | { readonly kind: "oracle" }
  /** Plays a wrong submission. */
  | { readonly kind: "trap"; readonly trap: Trap }
  /** Runs one command line with /bin/sh in the working directory. */
  | { readonly kind: "command"; readonly command: string }
  /** Is driven by a model through the gateway. */
  | { readonly kind: "model"; readonly agent: ModelAgent; readonly reasoningEffort: string | null };

/** The model behind a trial. */
export interface ModelPlan {
  readonly id: string;
  readonly api: ModelApi;
  readonly baseUrl: string | null;
  readonly apiKey: string | null;
  readonly caPem: string | null;
  readonly prices: Prices | null;
  /** Bytes of the cassette that answers, and where its words come from; null for a live provider. */
  readonly cassette: { readonly bytes: Buffer; readonly source: "replayed" | "scripted" } | null;
}

/** The treatment's server: a fresh container for each trial. */
export interface McpPlan {
  readonly name: string;
  readonly image: Digest;
  readonly command: readonly string[];
  /** Where the gateway reaches it; the host is its name on their network. */
  readonly url: string;
  readonly startMicros: number;
  readonly memoryBytes: number;
  /** What it must advertise, its catalog included. */
  readonly surface: Surface;
  /** The resource that lists its operations, where the study binds one. */
  readonly catalogUri: string | null;
}

/** An image as it was resolved for a run. */
export interface ResolvedImage {
  readonly id: Digest;
  readonly inputDigest: Digest;
  /** `NAME=value` lines of its configuration. */
  readonly env: readonly string[];
  /** Its WORKDIR; `/` when it has none. */
  readonly workdir: string;
  /** Its USER; null when it has none, which is root. */
  readonly user: string | null;
}

/** Everything one trial needs to know; nothing in it depends on another trial. */
export interface TrialSpec {
  readonly number: number;
  readonly attempt: number;
  readonly task: Task;
  readonly taskDigest: Digest;
  readonly condition: "control" | "treatment" | "none";
  readonly repetition: number;
  readonly agent: AgentPlan;
  readonly environment: ResolvedImage;
  /** One per step: the separate verifier's image, or null for a shared one. */
  readonly verifiers: readonly (ResolvedImage | null)[];
  readonly model: ModelPlan | null;
  /** The study's server: what must be offered in the treatment, and must not be in control. Null outside studies. */
  readonly mcp: McpPlan | null;
  /** The study's limits; the task's own agent timeout applies beside `agentSeconds`. */
  readonly budgets: Budgets | null;
  /** Names of host variables that `${VAR}` may resolve, with their values. */
  readonly hostVariables: Readonly<Record<string, string>>;
  /** Why the task's images could not be made: the trial is then sealed as `infra_error`, in both conditions alike. */
  readonly unavailable: Cause | null;
  /** How often each step is graded; grading twice must give the same files. */
  readonly gradings: 1 | 2;
  /** File that the trial's live conversation is written to as a cassette; null when it is not recorded. */
  readonly record: string | null;
}
