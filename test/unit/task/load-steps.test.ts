import { join } from "node:path";
import { expect, test } from "vitest";
import { loadTask } from "../../../runner/task/load-task.ts";
import type { Step } from "../../../runner/task/model.ts";
import { bundles, makeFolder, minimal } from "./support.ts";

const implicit = { source: "/logs/artifacts", destination: null, exclude: [], service: "main", implicit: true };
const artifact = (source: string) => ({ ...implicit, source, implicit: false });
const noNetwork = { mode: "no-network", allowedHosts: [] };

function good(name: string) {
  return loadTask(join(bundles, "good", name));
}

async function onlyStep(toml: string, files: Readonly<Record<string, string>> = {}): Promise<Step> {
  const { steps } = await loadTask(await makeFolder({ ...minimal, ...files, "task.toml": toml }));
  const [step] = steps;
  if (step === undefined) throw new Error("no step");
  return step;
}

test("steps take the task's values where they have none, merge the environment, and lay their files over the task's", async () => {
  const task = await good("multi-step");
  const at = (path: string) => join(bundles, "good/multi-step", path);
  const verifier = { mode: "shared", user: null, network: noNetwork, collect: [], environment: null, tests: "copied" };
  expect({ multiStep: task.multiStep, strategy: task.rewardStrategy, steps: task.steps }).toEqual({
    multiStep: true,
    strategy: "mean",
    steps: [
      {
        name: "collect",
        instruction: "Write the word `one` to `/app/first.txt`.\n",
        instructionFile: at("steps/collect/instruction.md"),
        agent: { timeoutMicros: null, user: null, network: noNetwork },
        verifier: { ...verifier, timeoutMicros: 900_000_000, env: { FLAVOUR: "task", SHARED: "yes" } },
        healthcheck: null,
        artifacts: [implicit],
        minReward: { reward: 1 },
        workdirFiles: null,
        setupScript: false,
        testsDirs: [at("tests")],
        solutionDirs: [at("steps/collect/solution")],
      },
      {
        name: "combine",
        instruction: "Join `/app/first.txt` and `/app/second.txt` with a `-` into `/app/joined.txt`.\n",
        instructionFile: at("steps/combine/instruction.md"),
        agent: { timeoutMicros: 120_000_000, user: null, network: noNetwork },
        verifier: { ...verifier, timeoutMicros: 30_000_000, env: { FLAVOUR: "step", SHARED: "yes" } },
        healthcheck: {
          command: "test -f /app/second.txt",
          intervalMicros: 200_000,
          timeoutMicros: 30_000_000,
          startPeriodMicros: 0,
          startIntervalMicros: 5_000_000,
          retries: 5,
        },
        artifacts: [implicit],
        minReward: { reward: 0.5 },
        workdirFiles: at("steps/combine/workdir"),
        setupScript: true,
        testsDirs: [at("tests"), at("steps/combine/tests")],
        solutionDirs: [at("steps/combine/solution")],
      },
    ],
  });
});

test("a step's verifier never has less time than under Harbor, and more when the task asks for it", async () => {
  const steps = '\n[[steps]]\nname = "s"\n';
  const files = { "steps/s/instruction.md": "x" };
  expect([
    (await onlyStep(`[verifier]\ntimeout_sec = 60${steps}`, files)).verifier.timeoutMicros,
    (await onlyStep(`[verifier]\ntimeout_sec = 1200${steps}`, files)).verifier.timeoutMicros,
    (await onlyStep(`[verifier]\ntimeout_sec = 1200${steps}[steps.verifier]\ntimeout_sec = 5`, files)).verifier
      .timeoutMicros,
    (await onlyStep("[verifier]\ntimeout_sec = 60")).verifier.timeoutMicros,
    (await onlyStep("")).verifier.timeoutMicros,
  ]).toEqual([600_000_000, 1_200_000_000, 5_000_000, 60_000_000, 600_000_000]);
});

test.each([
  ["", "shared"],
  ['[verifier]\nenvironment_mode = "separate"', "separate"],
  ['[verifier.environment]\ndocker_image = "x"', "separate"],
  ['[verifier]\nenvironment_mode = "shared"', "shared"],
])("the verifier mode of a task with %j is %s", async (toml, mode) => {
  expect((await onlyStep(toml)).verifier.mode).toBe(mode);
});

test.each([
  ["", "", "shared"],
  ['[verifier]\nenvironment_mode = "separate"', "", "separate"],
  ['[verifier]\nenvironment_mode = "separate"', '[steps.verifier]\nenvironment_mode = "shared"', "shared"],
  ['[verifier.environment]\ndocker_image = "x"', '[steps.verifier]\nenvironment_mode = "shared"', "shared"],
  ["", '[steps.verifier.environment]\ndocker_image = "x"', "separate"],
])("the verifier mode of a step in a task with %j and %j is %s", async (task, step, mode) => {
  const files = { "steps/s/instruction.md": "x" };
  expect((await onlyStep(`${task}\n[[steps]]\nname = "s"\n${step}`, files)).verifier.mode).toBe(mode);
});

test("a separate verifier without an environment copies the agent's settings and builds from tests/", async () => {
  const { environment, steps } = await good("separate-dockerfile");
  const context = join(bundles, "good/separate-dockerfile");
  expect(environment.image).toEqual({ kind: "dockerfile", context: join(context, "environment") });
  expect(steps[0]?.verifier).toEqual({
    mode: "separate",
    timeoutMicros: 60_000_000,
    user: null,
    env: {},
    collect: [],
    network: noNetwork,
    environment: { ...environment, image: { kind: "dockerfile", context: join(context, "tests") } },
    tests: "baked",
  });
});

test("a step's separate verifier builds from the step's own tests folder", async () => {
  const { steps } = await good("multi-step-separate");
  expect(steps[1]?.verifier.environment?.image).toEqual({
    kind: "dockerfile",
    context: join(bundles, "good/multi-step-separate/steps/second/tests"),
  });
  expect(steps[1]?.artifacts).toEqual([implicit, artifact("/app/log.txt"), artifact("/app/total.txt")]);
});

test("a prebuilt verifier gets the tests copied in when the task has them, and keeps its own when it has none", async () => {
  const toml = '[verifier.environment]\ndocker_image = "grader"\nnetwork_mode = "no-network"\n';
  const { "tests/test.sh!": _script, ...without } = minimal;
  const bare = await loadTask(await makeFolder({ ...without, "task.toml": toml }));
  expect([(await onlyStep(toml)).verifier.tests, bare.steps[0]?.verifier.tests]).toEqual(["copied", "baked"]);
  expect((await onlyStep(toml)).verifier.environment?.image).toEqual({
    kind: "image",
    reference: "grader",
    upload: null,
  });
});

test("a prebuilt agent image takes environment/ as files for the working directory, unless a Dockerfile is there", async () => {
  const dir = join(bundles, "good/prebuilt-image/environment");
  expect((await good("prebuilt-image")).environment.image).toEqual({
    kind: "image",
    reference: "jacobian-runner/workbench",
    upload: dir,
  });
  const withDockerfile = await loadTask(
    await makeFolder({ ...minimal, "task.toml": '[environment]\ndocker_image = "x"\n' }),
  );
  expect(withDockerfile.environment.image).toEqual({ kind: "image", reference: "x", upload: null });
});

test("phases override the baseline network, each for itself", async () => {
  const [step] = (await good("allowlist")).steps;
  expect({ agent: step?.agent.network, verifier: step?.verifier.network }).toEqual({
    agent: {
      mode: "allowlist",
      allowedHosts: ["*.example.net", "192.0.2.0/24", "2001:db8::1", "registry.example.org"],
    },
    verifier: noNetwork,
  });
});

test("a separate verifier's own environment is public unless it says otherwise", async () => {
  const toml = '[verifier.environment]\ndocker_image = "x"\n[environment]\nnetwork_mode = "no-network"\n';
  expect((await onlyStep(toml)).verifier.network).toEqual({ mode: "public", allowedHosts: [] });
  expect((await onlyStep(`[verifier]\nnetwork_mode = "no-network"\n${toml}`)).verifier.network).toEqual(noNetwork);
});

test("artifacts keep destination, exclusions and order, and an overlap is reported", async () => {
  const { steps, warnings } = await good("artifacts");
  expect(steps[0]?.artifacts).toEqual([
    implicit,
    { source: "/app/out", destination: "results/out", exclude: ["*.tmp", "cache"], service: "main", implicit: false },
    artifact("/app/build.sh"),
    artifact("notes.txt"),
  ]);
  expect(warnings).toEqual([]);
  const overlapping = await loadTask(
    await makeFolder({ ...minimal, "task.toml": 'artifacts = ["/app", "/app/x", "/app", "/apple"]\n' }),
  );
  expect(overlapping.steps[0]?.artifacts.map((spec) => spec.source)).toEqual([
    "/logs/artifacts",
    "/app",
    "/app/x",
    "/apple",
  ]);
  expect(overlapping.warnings.map((warning) => `${warning.code} ${warning.line} ${warning.message}`)).toEqual([
    "ARTIFACT_OVERLAP 1 the artifact /app/x overlaps /app; the first one takes the files both name",
    "ARTIFACT_OVERLAP 1 the artifact /app overlaps /app; the first one takes the files both name",
  ]);
});

test("an artifact that names /logs/artifacts replaces the implicit one", async () => {
  const step = await onlyStep('artifacts = [{ source = "/logs/artifacts/", exclude = ["*.tmp"] }]');
  expect(step.artifacts).toEqual([{ ...artifact("/logs/artifacts"), exclude: ["*.tmp"] }]);
});

test("the task's collect hooks run before the step's", async () => {
  const toml =
    '[[verifier.collect]]\ncommand = "a"\n[[steps]]\nname = "s"\n[[steps.verifier.collect]]\ncommand = "b"\n';
  const step = await onlyStep(toml, { "steps/s/instruction.md": "x" });
  expect(step.verifier.collect.map((hook) => hook.command)).toEqual(["a", "b"]);
});

test("canary lines are not part of the instruction", async () => {
  const [html] = (await good("shared-default")).steps;
  const [hash] = (await good("legacy-spellings")).steps;
  expect([html?.instruction, hash?.instruction]).toEqual([
    "Write the sum of 19 and 23 to `/app/answer.txt`.\n",
    "Write the number of days of a leap year to `/app/answer.txt`.\n",
  ]);
});
