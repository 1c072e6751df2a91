import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ModelAgent } from "../agent/model-agent.ts";
import { type Digest, digestJson } from "../base/digest.ts";
import type { CassetteInput } from "../base/formats/cassette.ts";
import { loadTask } from "../task/load-task.ts";
import type { Task } from "../task/model.ts";
import type { TrialSpec } from "../trial/spec.ts";
import type { CheckCase } from "./check-agent-cases.ts";
import { calculator } from "./check-agent-server.ts";

const FILES = {
  "task.toml": '[environment]\nworkdir = "/app"\nnetwork_mode = "no-network"\n[agent]\ntimeout_sec = 3600\n',
  "environment/Dockerfile": "FROM jacobian-runner/workbench\n",
  "instruction.md": "/app/answer.txt must hold the sum of 20 and 22.\n",
  "tests/test.sh":
    '#!/bin/sh\nif [ "$(cat /app/answer.txt 2>/dev/null)" = 42 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n',
} as const;

/** Writes the check's task into a folder and loads it. */
export async function checkTask(folder: string): Promise<Task> {
  const dir = join(folder, "agent-check");
  for (const [path, content] of Object.entries(FILES)) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), content, { mode: path.endsWith(".sh") ? 0o755 : 0o644 });
  }
  return await loadTask(dir);
}

/** The trial that leads an agent through one conversation. */
export function checkTrial(
  agent: ModelAgent,
  task: Task,
  { condition, exchanges }: CheckCase,
  number: number,
  images: { readonly workbench: Digest; readonly base: Digest },
): TrialSpec {
  const cassette: CassetteInput = {
    schemaVersion: "1",
    modelSource: "scripted",
    conversations: [{ scope: { task: task.id, condition: "any" }, exchanges: [...exchanges] }],
  };
  const [api] = agent.apis;
  if (api === undefined) throw new Error(`${agent.name} speaks no API`);
  return {
    number,
    attempt: 1,
    task,
    taskDigest: digestJson(FILES),
    condition,
    repetition: 1,
    agent: { kind: "model", agent, reasoningEffort: null },
    environment: { id: images.workbench, inputDigest: images.workbench, env: [], workdir: "/app", user: null },
    verifiers: [null],
    model: {
      id: "check-model",
      api,
      baseUrl: null,
      apiKey: null,
      caPem: null,
      prices: null,
      cassette: { bytes: Buffer.from(JSON.stringify(cassette)), source: "scripted" },
    },
    mcp: calculator(images.base),
    budgets: { agentSeconds: 3600, modelRequests: 200, tokens: 100_000_000, costMicroUsd: null, toolCalls: 20 },
    hostVariables: {},
    unavailable: null,
    gradings: 1,
    record: null,
  };
}
