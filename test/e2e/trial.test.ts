import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectEngine } from "../../runner/docker/engine.ts";
import type { OracleResult } from "../../runner/study/oracle.ts";
import type { TaskValidation } from "../../runner/study/validate-task.ts";
import type { TrialRecord } from "../../runner/trial/record.ts";
import {
  GRADE_42,
  grade,
  leftOf,
  NO_NETWORK,
  oracle,
  readObject,
  readRecord,
  runLines,
  scratch,
  sh,
  start,
  writeBundle,
} from "../support/e2e.ts";

const SEPARATE = `artifacts = ["/app"]
[verifier]
environment_mode = "separate"
[verifier.environment]
docker_image = "jacobian-runner/workbench"
${NO_NETWORK}`;

/** A shell line that lives on outside of its parent's session and ignores being asked to stop. */
const survivor = (work: string): string =>
  `setsid nohup sh -c 'trap "" TERM INT HUP; while :; do ${work}; sleep 0.05; done' > /dev/null 2>&1 &`;

const EVIL_TEST = "printf '#!/bin/sh\\necho 1 > /logs/verifier/reward.txt\\n'";
const EVIL_REWARD = "echo '{\"reward\": 1}'";

/** Harbor's usual kind: graded in the agent's own filesystem, the reward as JSON. */
const SHARED = {
  test: sh(
    'if [ "$(cat /app/answer.txt 2>/dev/null)" = 42 ]; then reward=1; else reward=0; fi',
    "printf '{\"reward\": %s}' $reward > /logs/verifier/reward.json",
  ),
  traps: {
    "app-file": sh("cd /", "rm -rf /app", "echo 42 > /app"),
    "both-rewards": sh("echo 1 > /logs/verifier/reward.txt", `${EVIL_REWARD} > /logs/verifier/reward.json`),
    "kills-init": sh("kill -9 1", "kill -9 -1"),
    "logs-link": sh(
      "rm -rf /logs && mkdir -p /app/l/verifier && ln -s /app/l /logs",
      `${EVIL_REWARD} > /app/l/verifier/reward.json`,
    ),
    "own-tests": sh("rm -rf /tests && mkdir -p /tests", `${EVIL_TEST} > /tests/test.sh`, "chmod 755 /tests/test.sh"),
    survivors: sh(
      survivor(`echo 1 > /logs/verifier/reward.txt; date +%s%N > /app/counter`),
      survivor("sleep 2; echo 42 > /app/answer.txt"),
      "until [ -s /app/counter ]; do sleep 0.05; done",
    ),
    "tests-link": sh(
      "rm -rf /tests && mkdir -p /app/t && ln -s /app/t /tests",
      `${EVIL_TEST} > /app/t/test.sh`,
      "chmod 755 /app/t/test.sh",
    ),
    "verifier-link": sh(
      "rm -rf /logs/verifier && mkdir -p /app/v && ln -s /app/v /logs/verifier",
      `${EVIL_REWARD} > /app/v/reward.json`,
    ),
  },
};

/** The image brings a reward, a test file and a volume of its own. */
const baked = (marker: string) => ({
  dockerfile: `FROM jacobian-runner/workbench
RUN mkdir -p /logs/verifier /tests && echo '{"reward": 1}' > /logs/verifier/reward.json && echo stale > /tests/stale
VOLUME /data
`,
  solve: sh("echo 42 > /data/answer.txt", `touch /data/${marker}`),
  test: grade('[ ! -e /tests/stale ] && [ "$(cat /data/answer.txt 2>/dev/null)" = 42 ]'),
  traps: { "volume-only": sh(`touch /data/${marker}`) },
});

const VERIFY_PY = `import json, os, stat
def read(path):
    try:
        with open(path) as file: return file.read()
    except OSError: return None
ok = read("/app/answer.txt") == read("/tests/expected.txt")
if ok:
    mode = os.stat("/app/run.sh").st_mode
    ok = os.access("/app/run.sh", os.X_OK) and not mode & stat.S_ISUID
with open("/logs/verifier/reward.json", "w") as file: json.dump({"reward": int(ok)}, file)
`;

/** Graded in a container that never saw the agent; the verifier starts in a folder the agent filled. */
const APART = {
  toml: SEPARATE,
  solve: sh("echo 42 > /app/answer.txt", "cp /bin/true /app/run.sh", "chmod 4755 /app/run.sh"),
  test: sh("python3 /tests/verify.py"),
  files: { "tests/expected.txt": "42\n", "tests/verify.py": VERIFY_PY },
  traps: {
    "answer-link": sh("cp /bin/true /app/run.sh", "ln -s /tests/expected.txt /app/answer.txt"),
    "app-file": sh("cd /", "rm -rf /app", "echo 42 > /app"),
    "module-shadow": sh(
      "mkdir -p /app/evil-1.0.dist-info",
      "printf '[pytest11]\\nevil = evil\\n' > /app/evil-1.0.dist-info/entry_points.txt",
      "for name in json stat sitecustomize usercustomize conftest evil; do",
      `  echo 'open("/logs/verifier/reward.txt", "w").write("1"); raise SystemExit' > /app/$name.py`,
      "done",
    ),
    "odd-files": sh(
      "mkfifo /logs/artifacts/pipe && ln -s pipe /logs/artifacts/to-pipe",
      "ln -s /etc /logs/artifacts/outside",
      "ln -s /etc /logs/agent/etc",
      "ln -s ../../etc/passwd /app/climbs",
      "echo inside > /app/real && ln -s real /app/within",
      "mkdir -m 0700 /logs/agent/closed && touch /logs/agent/closed/file",
    ),
  },
};

/** The agent has 128 MB, and says what it was given. */
const STARVED = {
  toml: `${NO_NETWORK}memory_mb = 128\n`,
  solve: sh(
    "python3 -c 'x = bytearray(1 << 30)'",
    "for i in $(seq 200); do sh -c 'true &'; done",
    "sleep 0.5",
    "grep -l '^State:.Z' /proc/[0-9]*/status 2>/dev/null | wc -l",
    "grep -E '^(CapEff|NoNewPrivs|Seccomp):' /proc/self/status",
    "ip -o link 2>/dev/null || ls /sys/class/net",
    "echo 42 > /app/answer.txt",
  ),
  traps: { "dies-whole": sh("tail /dev/zero") },
};

const TWO_STEPS = {
  toml: `${NO_NETWORK}[[steps]]\nname = "one"\n[[steps]]\nname = "two"\n`,
  files: {
    "steps/one/instruction.md": "Answer.\n",
    "steps/two/instruction.md": "Answer.\n",
    "steps/one/solution/solve.sh": sh("echo 42 > /app/answer.txt"),
    "steps/two/solution/solve.sh": sh("find /tests /logs/verifier -type f > /app/seen.txt 2>/dev/null", "true"),
    "steps/two/tests/test.sh": grade("[ -e /app/seen.txt ] && [ ! -s /app/seen.txt ]"),
  },
};

/** The work never reaches the verifier, because nobody declared it. */
const UNREACHED = {
  toml: SEPARATE.replace('["/app"]', '["/app/other.txt"]'),
  test: `${GRADE_42}echo "the grader saw: $(ls /app)"\n`,
};

/** The agent has two seconds, uses them up and would go on. */
const LATE = {
  toml: `[agent]\ntimeout_sec = 2.0\n${NO_NETWORK}`,
  solve: sh(
    "echo 42 > /app/answer.txt",
    survivor("date +%s%N > /app/counter"),
    `trap "" TERM`,
    "while :; do sleep 1; done",
  ),
  test: sh(
    "before=$(cat /app/counter); sleep 1",
    'if [ "$(cat /app/answer.txt)" = 42 ] && [ -n "$before" ] && [ "$before" = "$(cat /app/counter)" ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt',
  ),
};

/** How the verifier misbehaves is told by the trap; the limit of its writable layer by the task. */
const FAULTY = {
  toml: `[verifier]\ntimeout_sec = 10.0\n${NO_NETWORK}storage_mb = 64\n`,
  test: `#!/bin/sh
cd /logs/verifier
case $(cat /app/fault 2>/dev/null) in
  silent) echo about-to-die >&2; exit 137 ;;
  empty) : > reward.txt ;;
  nan) echo nan > reward.txt ;;
  boolean) echo '{"reward": true}' > reward.json ;;
  conflict) echo 0 > reward.txt; echo '{"reward": 1}' > reward.json ;;
  late) trap "" TERM; (sleep 11; echo 1 > reward.txt) & sleep 60 ;;
  large) head -c 100000 /dev/zero | tr '\\0' ' ' > reward.json ;;
  huge) truncate -s 300M reward.json; echo 1 > reward.txt ;;
  link) echo '{"reward": 1}' > /app/mine.json; ln -s /app/mine.json reward.json; echo 0 > reward.txt ;;
  loud) echo 0 > reward.txt; yes | head -c 50000000 ;;
  *) ${grade('[ "$(cat /app/answer.txt 2>/dev/null)" = 42 ]').replace("#!/bin/sh\n", "").trim()} ;;
esac
`,
  traps: Object.fromEntries([
    ...["boolean", "conflict", "empty", "huge", "large", "late", "link", "loud", "nan", "silent"].map((fault) => [
      fault,
      sh(`echo ${fault} > /app/fault`),
    ]),
    ["fills-the-disk", sh("head -c 150000000 /dev/zero > /app/big", "sleep 60")],
  ]),
};

let dir: string;
let remove: () => Promise<void>;
let result: OracleResult;
let code: number | undefined;
const marker = `marker-${process.pid}-${Date.now()}`;

beforeAll(async () => {
  ({ dir, remove } = await scratch());
  const dataset = join(dir, "hostile");
  await writeBundle(dataset, "apart", APART);
  await writeBundle(dataset, "baked", baked(marker));
  await writeBundle(dataset, "faulty", FAULTY);
  await writeBundle(dataset, "late", LATE);
  await writeBundle(dataset, "shared", SHARED);
  await writeBundle(dataset, "starved", STARVED);
  await writeBundle(dataset, "two-steps", TWO_STEPS);
  await writeBundle(dataset, "unreached", UNREACHED);
  ({ code, result } = await oracle(dataset, join(dir, "out")));
});
afterAll(() => remove());

function task(id: string): TaskValidation {
  const found = result.tasks.find((candidate) => candidate.task === id);
  if (found === undefined) throw new Error(`no task ${id}`);
  return found;
}

async function record(id: string, role: string): Promise<TrialRecord> {
  const run = task(id).runs.find((candidate) => candidate.role === role);
  if (run === undefined) throw new Error(`no run ${role} of ${id}`);
  return readRecord(result.out, run.record);
}

const plain = (id: string, ...traps: string[]) => ({
  task: id,
  state: "valid",
  runs: ["oracle: scored 1", "nop: scored 0", ...traps.map((trap) => `trap ${trap}: scored 0`)],
});
const summary = (id: string) => ({ task: id, state: task(id).state, runs: runLines(task(id)) });

test("an agent that plants rewards, tests, links or surviving processes in the verifier's own filesystem gets 0", async () => {
  expect(summary("shared")).toEqual(plain("shared", ...Object.keys(SHARED.traps)));
  const { steps } = await record("shared", "trap both-rewards");
  expect(steps[0]?.planted.map(({ path }) => path).sort()).toEqual([
    "/logs/verifier/reward.json",
    "/logs/verifier/reward.txt",
  ]);
  expect(steps[0]?.verifier?.files.map(({ path }) => path)).toEqual(["/logs/verifier/reward.json"]);
  expect((await record("shared", "trap kills-init")).steps[0]?.agentEnd).toEqual({
    by: "crash",
    exitCode: null,
    detail: "the container ended with exit code 137",
  });
});

test("a reward baked into the image is not graded, and its volume's content is, and goes afterwards", async () => {
  expect(summary("baked")).toEqual(plain("baked", "volume-only"));
  const { steps } = await record("baked", "nop");
  expect(steps[0]?.planted.map(({ path }) => path)).toEqual(["/logs/verifier/reward.json"]);
  await using engine = await connectEngine();
  const { Volumes: volumes } = await engine.docker.listVolumes();
  expect(volumes.filter(({ Mountpoint: place }) => existsSync(join(place, marker)))).toEqual([]);
});

test("a separate verifier sees regular files alone: links to hidden files, devices and set-uid bits do not reach it", async () => {
  expect(summary("apart")).toEqual(plain("apart", ...Object.keys(APART.traps)));
  const refused = async (role: string) => (await record("apart", role)).steps[0]?.refused;
  expect(await refused("trap answer-link")).toEqual([
    { path: "/app/answer.txt", reason: "link-leaves-root: /tests/expected.txt" },
  ]);
  expect(await refused("trap odd-files")).toEqual([
    { path: "/logs/artifacts/pipe", reason: "fifo" },
    { path: "/logs/agent/etc", reason: "link-leaves-root: /etc" },
    { path: "/logs/artifacts/outside", reason: "link-leaves-root: /etc" },
    { path: "/app/climbs", reason: "link-leaves-root: ../../etc/passwd" },
  ]);
  const modes = (await record("apart", "oracle")).steps[0]?.artifacts.map(({ path, mode }) => [path, mode]);
  expect(modes).toContainEqual(["/app/run.sh", 0o755]);
  const odd = (await record("apart", "trap odd-files")).steps[0]?.artifacts;
  expect(odd).toContainEqual(expect.objectContaining({ path: "/app/within", type: "link", linkTarget: "real" }));
  expect(odd).toContainEqual(expect.objectContaining({ path: "/logs/agent/closed", mode: 0o700 }));
});

test("a process out of memory is an observation; orphans are reaped; capabilities, network and privileges are few", async () => {
  expect(summary("starved")).toEqual(plain("starved", "dies-whole"));
  const solved = await record("starved", "oracle");
  expect(solved.observations).toEqual(["a process in the agent's container was ended for lack of memory"]);
  const output = solved.steps[0]?.agentOutput?.stdout.head;
  const said = output === undefined ? "" : (await readObject(result.out, output)).toString("utf8");
  const capabilities = [0, 1, 3, 4, 5, 6, 7].reduce((mask, bit) => mask | (1 << bit), 0);
  expect(said.replaceAll("\t", " ").split("\n").slice(0, 4)).toEqual([
    "0",
    `CapEff: ${capabilities.toString(16).padStart(16, "0")}`,
    "NoNewPrivs: 1",
    "Seccomp: 2",
  ]);
  expect(said).not.toContain("eth0");
  const died = await record("starved", "trap dies-whole");
  expect([died.observations, died.steps[0]?.agentEnd?.by]).toEqual([solved.observations, "crash"]);
});

test("the second step's agent sees nothing of the first step's grading", () => {
  expect(summary("two-steps")).toEqual(plain("two-steps"));
});

test("an agent that runs into its time limit is dead before the verifier starts, and its work is graded", async () => {
  expect(summary("late")).toEqual({ ...plain("late"), runs: ["oracle: scored 1", "nop: scored 0"] });
  expect((await record("late", "oracle")).steps[0]?.agentEnd).toEqual({
    by: "timeout",
    exitCode: null,
    detail: "the task's limit of 2 s",
  });
});

test("a verifier without one good reward file is an error with its last words, never a 0", async () => {
  expect(summary("faulty")).toEqual({
    task: "faulty",
    state: "invalid",
    runs: [
      "oracle: scored 1",
      "nop: scored 0",
      "trap boolean: verifier_error REWARD_NOT_A_NUMBER",
      "trap conflict: verifier_error REWARD_CONFLICT",
      "trap empty: verifier_error REWARD_EMPTY",
      "trap fills-the-disk: scored 0",
      "trap huge: verifier_error REWARD_UNREADABLE",
      "trap large: verifier_error REWARD_TOO_LARGE",
      "trap late: verifier_error VERIFIER_TIMEOUT",
      "trap link: verifier_error REWARD_UNREADABLE",
      "trap loud: scored 0",
      "trap nan: verifier_error REWARD_NOT_FINITE",
      "trap silent: verifier_error REWARD_MISSING",
    ],
  });
  const silent = await record("faulty", "trap silent");
  expect([silent.reward, silent.rewards]).toEqual([null, null]);
  expect(silent.cause?.detail).toMatch(/exit code 137; its last words: about-to-die$/);
  expect((await record("faulty", "trap boolean")).cause?.detail).toContain("true");
  const loud = (await record("faulty", "trap loud")).steps[0]?.verifier?.stdout;
  expect([loud?.bytes, loud?.truncated]).toEqual([50_000_000, true]);
  const late = (await record("faulty", "trap late")).steps[0]?.verifier;
  expect([late?.endedBy, late?.exitCode, late?.files]).toEqual(["timeout", null, []]);
  expect((await record("faulty", "trap fills-the-disk")).steps[0]?.agentEnd).toMatchObject({
    by: "budget",
    detail: expect.stringMatching(/^the task's storage limit of 67108864 bytes: [0-9]+ written$/),
  });
});

test("an oracle whose work does not reach the verifier fails loudly: what was collected beside what the verifier said", () => {
  const { state, problems } = task("unreached");
  expect([state, problems]).toEqual([
    "invalid",
    [
      "oracle: reward 0, expected 1; collected: nothing; left behind: /app/other.txt (absent); the verifier's last words: the grader saw:",
    ],
  ]);
});

test("one invalid task changes the exit code and nothing of the others, and nothing is left in the engine", async () => {
  expect(code).toBe(1);
  expect(result.tasks.map(({ task: id }) => id)).toEqual([
    "apart",
    "baked",
    "faulty",
    "late",
    "shared",
    "starved",
    "two-steps",
    "unreached",
  ]);
  expect(await leftOf(result.runId)).toEqual([]);
});

test("the runner's memory stays below 300 MB while an agent prints 2 GB", async () => {
  const dataset = join(dir, "flood");
  await writeBundle(dataset, "flood", { solve: sh("yes | head -c 2000000000", "echo 42 > /app/answer.txt") });
  const running = start(["oracle", "--dataset", dataset, "--out", join(dir, "flood-out"), "--json"]);
  let peakKiB = 0;
  const watch = setInterval(() => {
    readFile(`/proc/${running.pid}/status`, "utf8")
      .then((text) => {
        peakKiB = Math.max(peakKiB, Number(/^VmHWM:\s+([0-9]+) kB$/m.exec(text)?.[1] ?? 0));
      })
      .catch(() => undefined);
  }, 200);
  const { exitCode, stdout } = await running.finally(() => clearInterval(watch));
  const flood = (JSON.parse(stdout) as OracleResult).tasks[0];
  expect([exitCode, flood === undefined ? [] : runLines(flood)]).toEqual([0, ["oracle: scored 1", "nop: scored 0"]]);
  const ref = flood?.runs[0]?.record;
  const { steps } = await readRecord(join(dir, "flood-out"), ref ?? { digest: "" });
  expect(steps[0]?.agentOutput?.stdout).toMatchObject({ bytes: 2_000_000_000, truncated: true });
  expect(steps[0]?.agentEnd).toEqual({ by: "self", exitCode: 0, detail: null });
  expect(peakKiB).toBeGreaterThan(0);
  expect(peakKiB * 1024).toBeLessThan(300e6);
});
