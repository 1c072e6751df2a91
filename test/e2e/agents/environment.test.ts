import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { spokenBy, testedAgents } from "../../support/agents.ts";
import { GRADE_42, NO_NETWORK, oracle, readObject, recordsOf, scratch, writeBundle } from "../../support/e2e.ts";
import { execute, talk, writeStudy } from "../../support/e2e-study.ts";

/** What an image could set to configure an agent; each of them must be gone. */
const PLANTED = {
  ANTHROPIC_BASE_URL: "http://10.0.0.1",
  BASH_ENV: "/home/solver/rc",
  CLAUDE_CODE_USE_BEDROCK: "1",
  CODEX_SQLITE_HOME: "/home/solver",
  DASHSCOPE_API_KEY: "planted",
  LD_LIBRARY_PATH: "/home/solver",
  NODE_OPTIONS: "--require=/home/solver/x.cjs",
  OPENAI_MODEL: "planted",
  OPENCODE_CONFIG_CONTENT: "{}",
  QWEN_HOME: "/home/solver",
};
const DUMP =
  "tr '\\0' '\\n' < /proc/$PPID/environ > /app/environment.txt; id -un > /app/user.txt; echo 42 > /app/answer.txt";

let dir: string;
let remove: () => Promise<void>;

beforeAll(async () => {
  ({ dir, remove } = await scratch());
});
afterAll(() => remove());

test.each(testedAgents(["codex"]).map((agent) => [agent.name, agent] as const))(
  "%s gets the task's variables and its own, none that would configure it and none of the host's; plants in the home of a user who is not root are named",
  async (name, agent) => {
    const home = join(dir, name);
    const dataset = join(home, "tasks");
    const id = `e2e-environment-${name}`;
    const plants = agent.ambient.home.map((path) => `/home/solver/${path}`);
    const folders = [...new Set(["/home/solver", ...plants.map((path) => dirname(path))])];
    const environment = Object.entries({ ...PLANTED, TASK_SETTING: "kept" }).map(([key, value]) => `${key}=${value}`);
    await writeBundle(dataset, id, {
      toml: `artifacts = ["/app"]\n${NO_NETWORK}`,
      dockerfile: `FROM jacobian-runner/workbench
RUN useradd --uid 1234 --create-home solver && chown solver /app && mkdir -p ${folders.join(" ")}${plants
        .map((path) => ` && echo planted > ${path}`)
        .join("")} && chown -R solver /home/solver
ENV ${environment.join(" ")}
USER solver
`,
      test: GRADE_42,
    });
    const proven = await oracle(dataset, join(home, "oracle"));
    expect(proven.code, proven.stderr).toBe(0);
    const [api = "chat"] = agent.apis;
    const study = await writeStudy(home, {
      dataset,
      tasks: [id],
      agent: { name },
      model: { id: "scripted", api, replay: "cassettes" },
      conversations: spokenBy(agent, [talk(id, DUMP)]),
    });
    const { code, stderr, result } = await execute(study, "control", join(home, "run"), {
      env: { HOSTS_OWN: "1", HOSTS_API_KEY: "sk-of-the-host" },
    });
    expect(code, stderr).toBe(0);
    const [bundle = ""] = result.runs.map((run) => run.dir);
    const [record] = await recordsOf(bundle);
    expect([record?.outcome, record?.reward]).toEqual(["scored", 1]);
    const left = async (path: string) => {
      const ref = record?.steps[0]?.artifacts.find((artifact) => artifact.path === path)?.content;
      if (ref == null) throw new Error(`${path} was not left`);
      return (await readObject(bundle, ref)).toString("utf8");
    };
    expect(await left("/app/user.txt")).toBe("solver\n");

    const variables = new Map(
      (await left("/app/environment.txt")).split("\n").map((line) => {
        const [key = "", ...value] = line.split("=");
        return [key, value.join("=")];
      }),
    );
    const { env } = agent.launch({
      ...{ instruction: "", modelId: "scripted", reasoningEffort: null, gatewayUrl: "http://gateway:8080", mcp: null },
      ...{ modelRequests: 6, home: "/var/agent-home", runtime: agent.runtime, workdir: "/app" },
    });
    expect(variables.get("TASK_SETTING")).toBe("kept");
    expect(variables.get("HOME")).toBe("/var/agent-home");
    for (const [key, value] of Object.entries(PLANTED)) expect([key, variables.get(key)]).not.toEqual([key, value]);
    const told = new Set([
      "TASK_SETTING",
      "LANG",
      "PATH",
      "HOSTNAME",
      "PWD",
      "OLDPWD",
      "SHLVL",
      "_",
      "",
      ...Object.keys(env),
    ]);
    expect([...variables.keys()].filter((key) => !told.has(key))).toEqual([]);

    const seen = record?.observations.join("\n") ?? "";
    for (const key of Object.keys(PLANTED)) expect(seen).toContain(key);
    for (const path of plants) expect(seen).toContain(path);
  },
);
