import type { ObjectStore } from "../evidence/store.ts";
import { judgeToolsOffered } from "../trace/judge-tools.ts";
import { readTrace } from "../trace/read-trace.ts";
import { TrialFailure } from "./failure.ts";
import type { GatewayEvidence } from "./gateway-evidence.ts";
import { namingOf, serverTools } from "./gateway-plan.ts";
import type { Cause, Outcome } from "./record.ts";
import type { AgentRun } from "./run-agent.ts";
import type { TrialSpec } from "./spec.ts";

/** Largest trace that is parsed whole. */
const MAX_TRACE_BYTES = 256 * 1024 * 1024;

/**
 * Turns what ended the agent into the trial's outcome where that is not the agent's own doing: the provider failed, the condition was
 * violated, the gateway broke.
 * @throws TrialFailure
 */
export function judgeTrouble(run: AgentRun): void {
  const { trouble, meaning } = run;
  switch (trouble?.notice) {
    case "provider-error": {
      const status = trouble.status === null ? "" : ` (status ${trouble.status})`;
      throw new TrialFailure("provider_error", `PROVIDER_${code(trouble.cause)}`, `${trouble.detail}${status}`);
    }
    case "condition-violation":
      throw new TrialFailure("invalid_condition", `CONDITION_${code(trouble.kind)}`, trouble.detail);
    case "fatal":
      throw new TrialFailure("infra_error", `GATEWAY_${code(trouble.code)}`, trouble.detail);
    case "died":
      throw new TrialFailure("infra_error", "GATEWAY_DIED", trouble.detail);
    default:
      break;
  }
  if (meaning?.kind === "condition") throw new TrialFailure("invalid_condition", "MCP_NOT_USABLE", meaning.detail);
  if (meaning?.kind === "provider") throw new TrialFailure("provider_error", "PROVIDER_FAILED", meaning.detail);
}

/** Holds the tools that the model was offered, as the gateway recorded them, against the condition. */
export async function judgeCondition(
  store: Pick<ObjectStore, "readAll">,
  spec: TrialSpec,
  evidence: GatewayEvidence,
): Promise<{ readonly outcome: Exclude<Outcome, "scored">; readonly cause: Cause } | null> {
  const { agent, condition } = spec;
  if (agent.kind !== "model" || condition === "none") return null;
  const trace = readTrace(await store.readAll(evidence.trace, MAX_TRACE_BYTES), "the gateway's trace");
  if (!trace.complete) {
    return {
      outcome: "infra_error",
      cause: { code: "TRACE_TRUNCATED", detail: trace.problem ?? "the trace has no end" },
    };
  }
  const { verdict, problems } = judgeToolsOffered(trace.events, {
    condition,
    serverTools: serverTools(spec),
    naming: namingOf(agent.agent, spec),
  });
  if (verdict === "as-expected") return null;
  return {
    outcome: "invalid_condition",
    cause:
      verdict === "violated"
        ? { code: "CONDITION_TOOLS", detail: problems.join("; ") }
        : {
            code: "CONDITION_UNPROVEN",
            detail: "no model request offered tools, so nothing shows which condition the agent had",
          },
  };
}

function code(words: string): string {
  return words.replaceAll("-", "_").toUpperCase();
}
