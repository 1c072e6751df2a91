import type { ModelAgent } from "../agent/model-agent.ts";
import type { Budgets } from "../base/formats/budgets.ts";
import type { ToolNaming } from "../base/formats/tool-naming.ts";
import type { GatewaySetSpec } from "./gateway-set.ts";
import type { TrialSpec } from "./spec.ts";

/** The identity of one attempt of a trial within its run. */
export function trialIdOf(runId: string, spec: Pick<TrialSpec, "number" | "attempt" | "condition">): string {
  return `${runId}-${spec.condition}-${spec.number}-${spec.attempt}`;
}

/** What the gateway of a model-driven trial is told; it depends on the trial alone, so it can be started ahead of it. */
export function gatewayPlan(runId: string, spec: TrialSpec): GatewaySetSpec {
  const { agent, model, mcp, condition } = spec;
  if (agent.kind !== "model" || model === null || condition === "none") {
    throw new Error(`trial ${spec.number} is not driven by a model`);
  }
  const trialId = trialIdOf(runId, spec);
  const allow = [...new Set(spec.task.steps.flatMap((step) => step.agent.network.allowedHosts))];
  const treatment = condition === "treatment" ? mcp : null;
  return {
    trialId,
    config: {
      schemaVersion: "1",
      trialId,
      scope: { task: spec.task.id, condition, repetition: spec.repetition },
      model: {
        id: model.id,
        api: model.api,
        baseUrl: model.cassette === null ? model.baseUrl : null,
        apiKey: model.cassette === null ? model.apiKey : null,
        caPem: model.caPem,
        pricesMicroUsdPerMTok: model.prices,
      },
      replay: model.cassette !== null,
      record: spec.record === null ? null : { normalizers: agent.agent.volatile },
      mcp: treatment === null ? null : { url: treatment.url },
      tools: {
        naming: namingOf(agent.agent, spec),
        serverTools: serverTools(spec),
        reasoningEffort: agent.reasoningEffort,
      },
      budgets: spec.budgets === null ? {} : gatewayBudgets(spec.budgets, spec.task.steps.length),
      proxy: allow.length === 0 ? null : { allow },
    },
    cassette: model.cassette?.bytes ?? null,
    mcp: treatment,
    expected: treatment?.surface ?? null,
    outward: model.cassette === null || allow.length > 0,
  };
}

/**
 * The budgets as the gateway of a trial keeps them. The time is one agent's, and the gateway is open over all steps and what is done between
 * them: where there are several, the runner's own clock alone keeps it.
 */
export function gatewayBudgets(budgets: Budgets, steps: number): Budgets {
  return steps > 1 ? { ...budgets, agentSeconds: null } : budgets;
}

/** Names of the locked server's tools: offered in the treatment, forbidden in control. */
export function serverTools(spec: TrialSpec): string[] {
  return spec.mcp === null ? [] : spec.mcp.surface.tools.map(({ name }) => name);
}

/** How the trial's agent shows tools; a trial outside of studies has no server whose name could matter. */
export function namingOf(agent: ModelAgent, spec: Pick<TrialSpec, "mcp">): ToolNaming {
  return agent.naming(spec.mcp?.name ?? "");
}
