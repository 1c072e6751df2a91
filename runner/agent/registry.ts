import { RunnerError } from "../base/errors.ts";
import { CLAUDE_CODE } from "./claude-code/agent.ts";
import { CODEX } from "./codex/agent.ts";
import type { ModelAgent } from "./model-agent.ts";
import { OPENCODE } from "./opencode/agent.ts";
import { QWEN_CODER } from "./qwen-coder/agent.ts";
import { TOOLLOOP } from "./toolloop/agent.ts";

/** Agents that are driven by a model. */
export const MODEL_AGENTS: readonly ModelAgent[] = [TOOLLOOP, CODEX, CLAUDE_CODE, OPENCODE, QWEN_CODER];
/** Agents that need no model. */
export const PLAIN_AGENTS = ["oracle", "nop", "command"] as const;
export type PlainAgent = (typeof PLAIN_AGENTS)[number];

/** Finds an agent by name: a model-driven one, or the name of a plain one. @throws RunnerError `AGENT_UNKNOWN`. */
export function findAgent(name: string): ModelAgent | PlainAgent {
  const plain = PLAIN_AGENTS.find((candidate) => candidate === name);
  if (plain !== undefined) return plain;
  const agent = MODEL_AGENTS.find((candidate) => candidate.name === name);
  if (agent !== undefined) return agent;
  const names = [...PLAIN_AGENTS, ...MODEL_AGENTS.map((candidate) => candidate.name)];
  throw new RunnerError("input", "AGENT_UNKNOWN", `there is no agent ${JSON.stringify(name)}`, {
    hint: `Name one of ${names.join(", ")}.`,
  });
}

/** The images that hold the runtimes of all agents but this one: what a run of it has no use for. */
export function otherRuntimes(name: string): string[] {
  return MODEL_AGENTS.filter((agent) => agent.name !== name).map((agent) => agent.runtimeImage);
}
