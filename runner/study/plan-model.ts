import { resolve } from "node:path";
import type { findAgent } from "../agent/registry.ts";
import { RunnerError } from "../base/errors.ts";
import { requireApiKey } from "./api-key.ts";
import type { PlanRequest } from "./plan-request.ts";

/** The model of a study as a plan uses it. */
export interface PlannedModel {
  readonly id: string;
  readonly api: "chat" | "responses" | "messages";
  readonly baseUrl: string | null;
  readonly replay: string | null;
  readonly prices: Record<string, number> | null;
}

/**
 * The model that the agent is driven by; null for an agent that asks none.
 * @throws RunnerError naming what does not go together, or a provider's key that is missing.
 */
export function checkModel(request: PlanRequest, agent: ReturnType<typeof findAgent>): PlannedModel | null {
  const { model, agent: named } = request.study.study;
  if (typeof agent === "string") {
    if (request.replay === null) return null;
    throw new RunnerError("usage", "REPLAY_UNUSED", `agent ${agent} asks no model, so there is nothing to replay`, {
      hint: "Leave --replay out, or name an agent that is driven by a model in the study.",
    });
  }
  if (model === undefined) {
    throw new RunnerError(
      "input",
      "MODEL_MISSING",
      `agent ${agent.name} is driven by a model, and the study names none`,
    );
  }
  if (!agent.apis.includes(model.api)) {
    throw new RunnerError(
      "input",
      "API_UNSUPPORTED",
      `agent ${agent.name} speaks ${agent.apis.join(", ")}, the study says ${model.api}`,
    );
  }
  if (named.version !== undefined && named.version !== agent.version) {
    throw new RunnerError(
      "refused",
      "AGENT_VERSION",
      `the study asks for ${agent.name} ${named.version}, the runner has ${agent.version}`,
    );
  }
  const effort = named.reasoningEffort;
  if (effort !== undefined && agent.reasoningEfforts?.includes(effort) === false) {
    throw new RunnerError(
      "input",
      "EFFORT_UNKNOWN",
      `agent ${agent.name} has no reasoning effort ${JSON.stringify(effort)}`,
      { hint: `Name one of ${agent.reasoningEfforts.join(", ")}.` },
    );
  }
  const replay =
    request.replay !== null
      ? resolve(request.cwd, request.replay)
      : model.replay === undefined
        ? null
        : request.study.resolve(model.replay);
  if (replay === null) requireApiKey(model, request.images.env);
  return {
    id: model.id,
    api: model.api,
    baseUrl: model.baseUrl ?? null,
    replay,
    prices: model.pricesMicroUsdPerMTok ?? null,
  };
}
