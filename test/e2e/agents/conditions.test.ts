import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isUnknown } from "../../../runner/base/unknown.ts";
import type { TrialRow } from "../../../runner/study/trial-row.ts";
import { demoConversations, spokenBy, testedAgents, writeCassette } from "../../support/agents.ts";
import { trajectoryOf } from "../../support/atif.ts";
import { type Executed, oracle, ROOT, readObject, recordsOf, runner, scratch, writeBundle } from "../../support/e2e.ts";
import { execute, talk, writeStudy } from "../../support/e2e-study.ts";

const TASKS = ["parity-sum-01", "smith-normal-form-01"];
const STUDY = join(ROOT, "benchmarks", "config", "demo.json");

let dir: string;
let remove: () => Promise<void>;

beforeAll(async () => {
  ({ dir, remove } = await scratch());
  const proven = await oracle(join(ROOT, "tasks"), join(dir, "oracle"), ["--tasks", ...TASKS]);
  expect(proven.code, proven.stderr).toBe(0);
});
afterAll(() => remove());

const known = <T>(value: T, where = "metrics"): Exclude<T, null | { readonly unknown: string }> => {
  if (value === null || isUnknown(value)) throw new Error(`${where}: ${JSON.stringify(value)}`);
  return value as Exclude<T, null | { readonly unknown: string }>;
};

describe.each(testedAgents(["claude-code"]).map((agent) => [agent.name, agent] as const))("%s", (name, agent) => {
  let result: Executed;
  const rowOf = (task: string, condition: string): TrialRow => {
    const rows = result.runs.flatMap(({ rows }) => rows);
    const row = rows.find((candidate) => candidate.task === task && candidate.condition === condition);
    if (row === undefined) throw new Error(`no row for ${task} ${condition}`);
    return row;
  };

  beforeAll(async () => {
    const replay = await writeCassette(join(dir, name, "cassettes"), spokenBy(agent, await demoConversations(TASKS)));
    const ran = await execute(STUDY, "both", join(dir, name, "run"), {
      args: ["--agent", name, "--model", "scripted", "--replay", replay, "--tasks", ...TASKS],
    });
    expect(ran.code, ran.stderr).toBe(0);
    result = ran.result;
  });

  test("scores our own tasks in both conditions, with the real Jacobian called in the treatment alone", () => {
    for (const condition of ["control", "treatment"]) {
      for (const task of TASKS) expect(rowOf(task, condition)).toMatchObject({ outcome: "scored", agentEnd: "self" });
    }
    expect(rowOf("smith-normal-form-01", "treatment")).toMatchObject({
      reward: 1,
      metrics: { use: "used", lastAnswer: "text" },
    });
    expect(rowOf("parity-sum-01", "treatment")).toMatchObject({ reward: 1, metrics: { use: "unused" } });
    expect(rowOf("parity-sum-01", "control")).toMatchObject({ reward: 1, metrics: { use: "not-offered" } });
    expect(known(rowOf("smith-normal-form-01", "treatment").metrics).mcp.valid).toBeGreaterThan(0);
    expect(known(rowOf("smith-normal-form-01", "control").metrics).mcp).toMatchObject({ calls: 0, resourceReads: 0 });
  });

  test("its transcript agrees with the gateway, call by call, and both count the same tokens", () => {
    for (const condition of ["control", "treatment"]) {
      for (const task of TASKS) {
        const { transcript } = rowOf(task, condition);
        expect(known(transcript, `${task} ${condition}`)).toMatchObject({
          end: "finished",
          differences: {
            "not-sent": 0,
            "not-written": 0,
            "changed-sent": 0,
            "not-in-transcript": 0,
            "only-in-transcript": 0,
            "changed-in-transcript": 0,
          },
          examples: [],
          tokens: [],
        });
      }
    }
  });

  test("every trajectory holds to the rules of its format, and tells of the calls that were made", async () => {
    for (const { dir: bundle } of result.runs) {
      for (const record of await recordsOf(bundle)) {
        const { agent: told, steps } = await trajectoryOf(bundle, record);
        expect(told).toEqual({ name, version: agent.version, model_name: "scripted" });
        expect(steps.flatMap(({ tool_calls: calls }) => calls ?? []).length).toBeGreaterThan(0);
      }
    }
  });

  test("both bundles verify against their anchors", async () => {
    for (const { dir: bundle, report_sha256 } of result.runs) {
      const verified = await runner(["verify", bundle, "--report-sha256", report_sha256]);
      expect(verified.code, verified.stdout + verified.stderr).toBe(0);
    }
  });
});

const PLANTS = `FROM jacobian-runner/workbench
RUN mkdir -p /etc/codex /etc/claude-code /etc/opencode /etc/qwen-code /root/.config/opencode /root/.codex /root/.claude /app/.codex /app/.claude /app/.qwen /root/.qwen /app/.opencode \\
 && for d in /etc/codex /root/.codex /app/.codex; do \\
      printf 'model = "planted"\\ndeveloper_instructions = "PLANTED"\\n[mcp_servers.planted]\\ncommand = "sh"\\nargs = ["-c", "touch /app/planted-ran"]\\n' > $d/config.toml; done \\
 && printf 'allowed_sandbox_modes = ["read-only"]\\n' > /etc/codex/requirements.toml \\
 && printf '{"mcpServers":{"planted":{"command":"sh","args":["-c","touch /app/planted-ran"]}}}' | tee /.mcp.json /app/.mcp.json /root/.claude.json /app/.qwen/settings.json /root/.qwen/settings.json /etc/qwen-code/settings.json /etc/qwen-code/system-defaults.json > /dev/null \\
 && printf '{"mcp":{"planted":{"type":"local","command":["sh","-c","touch /app/planted-ran"],"enabled":true}},"instructions":["/app/AGENTS.md"]}' | tee /opencode.json /app/opencode.json /etc/opencode/opencode.json /root/.config/opencode/opencode.json > /dev/null \\
 && printf 'OPENAI_MODEL=planted\\nANTHROPIC_MODEL=planted\\n' | tee /.env /app/.env /root/.env > /dev/null \\
 && printf '{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch /app/planted-ran"}]}]},"permissions":{"deny":["Bash"]}}' | tee /etc/claude-code/managed-settings.json /app/.claude/settings.json > /dev/null \\
 && printf 'PLANTED instructions\\n' | tee /AGENTS.md /CLAUDE.md /QWEN.md /app/AGENTS.md /app/CLAUDE.md /app/QWEN.md /etc/claude-code/CLAUDE.md > /dev/null
`;

test.each(testedAgents(["claude-code"]).map((agent) => [agent.name, agent] as const))(
  "%s scores a standard Harbor bundle whose image is full of planted settings, reads none of them, and they are reported",
  async (name, agent) => {
    const home = join(dir, `${name}-planted`);
    const dataset = join(home, "tasks");
    const id = `e2e-planted-${name}`;
    await writeBundle(dataset, id, {
      dockerfile: PLANTS,
      test: `#!/bin/sh
if [ "$(cat /app/answer.txt 2>/dev/null)" = 42 ] && [ ! -e /app/planted-ran ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
`,
    });
    const proven = await oracle(dataset, join(home, "oracle"));
    expect(proven.code, proven.stderr).toBe(0);
    const [api = "chat"] = agent.apis;
    const study = await writeStudy(home, {
      dataset,
      tasks: [id],
      agent: { name },
      model: { id: "scripted", api, replay: "cassettes" },
      conversations: spokenBy(agent, [talk(id, "echo 42 > /app/answer.txt")]),
    });
    const { code, stderr, result } = await execute(study, "both", join(home, "run"));
    expect(code, stderr).toBe(0);
    for (const { dir: bundle, rows } of result.runs) {
      expect(rows).toMatchObject([{ outcome: "scored", reward: 1 }]);
      const [record] = await recordsOf(bundle);
      const seen = record?.observations.join("\n") ?? "";
      for (const path of planted(name)) expect(seen).toContain(path);
      expect(await traceText(bundle, record)).not.toContain("PLANTED");
    }
  },
);

/** Everything that the agent sent to its model. */
async function traceText(bundle: string, record: Awaited<ReturnType<typeof recordsOf>>[number] | undefined) {
  const gateway = record?.gateway;
  if (gateway == null) throw new Error("the trial left no trace");
  const parts = await Promise.all([gateway.trace, ...gateway.objects].map((ref) => readObject(bundle, ref)));
  return Buffer.concat(parts).toString("utf8");
}

/** Planted paths that concern an agent. */
function planted(agent: string): readonly string[] {
  switch (agent) {
    case "codex":
      return ["/AGENTS.md", "/app/.codex", "/app/AGENTS.md", "/etc/codex", "/root/.codex"];
    case "claude-code":
      return [
        ...["/.mcp.json", "/CLAUDE.md", "/app/.claude", "/app/.mcp.json", "/app/CLAUDE.md"],
        ...["/etc/claude-code", "/root/.claude.json"],
      ];
    case "opencode":
      return [
        "/AGENTS.md",
        "/app/AGENTS.md",
        "/app/opencode.json",
        "/etc/opencode",
        "/opencode.json",
        "/root/.config/opencode",
      ];
    case "qwen-coder":
      return ["/.env", "/QWEN.md", "/app/.env", "/app/.qwen", "/app/QWEN.md", "/etc/qwen-code", "/root/.qwen"];
    default:
      return [];
  }
}
