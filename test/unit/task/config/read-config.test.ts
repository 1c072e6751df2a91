import { expect, test } from "vitest";
import { readConfig } from "../../../../runner/task/config/read-config.ts";
import { formatProblem } from "../../../../runner/task/load-task.ts";

function read(text: string) {
  const result = readConfig(text, "task.toml");
  if (!("config" in result)) throw new Error(result.problems.map(formatProblem).join("\n"));
  const { context: _context, ...config } = result.config;
  return { config, problems: result.problems.map(formatProblem), warnings: result.config.context.warnings };
}

function problemsOf(text: string): string[] {
  return readConfig(text, "task.toml").problems.map(formatProblem);
}

const defaults = {
  schemaVersion: "1.4",
  name: null,
  version: null,
  description: "",
  source: null,
  rewardStrategy: "mean",
  agent: { timeoutMicros: null, user: null, network: null },
  verifier: { timeoutMicros: null, user: null, network: null, env: {}, mode: null, environment: null, collect: [] },
  environment: {
    buildTimeoutMicros: 600_000_000,
    dockerImage: null,
    os: "linux",
    cpus: null,
    memoryBytes: null,
    storageBytes: null,
    gpus: 0,
    gpuTypes: [],
    tpu: null,
    network: { mode: "public", allowedHosts: [] },
    mcpServers: [],
    env: {},
    skillsDir: null,
    healthcheck: null,
    workdir: null,
  },
  solutionEnv: {},
  artifacts: [],
  steps: [],
  metadata: {},
  runner: {
    verifierShared: [],
    oracleShared: [],
    formats: [],
    submission: null,
    publicInputs: [],
    rewardKey: "reward",
  },
};

test("an empty task.toml has every default of Harbor 0.22", () => {
  expect(read("")).toEqual({ config: defaults, problems: [], warnings: [] });
});

test("every key that means something on one Docker host is read", () => {
  const text = `
schema_version = "1.4"
source = "registry"
multi_step_reward_strategy = "final"
artifacts = ["/app/out/", { source = "data", destination = "x/y", exclude = ["*.o"], service = "main" }]

[task]
name = "org/task"
version = "3"
description = "d"
authors = [{ name = "A", email = "a@example.org" }]
keywords = ["k"]

[metadata]
difficulty = "easy"
when = 2026-01-02

[metadata.runner]
verifier_shared = ["b", "a"]
oracle_shared = ["c"]
formats = ["f.json"]
submission = "/app/s.json"
public_inputs = ["input.json"]
reward_key = "score"

[agent]
timeout_sec = 1.5
user = 1000
network_mode = "allowlist"
allowed_hosts = ["B.example", "a.example."]

[verifier]
timeout_sec = 2
user = "root"
network_mode = "public"
environment_mode = "separate"
env = { K = "v" }
collect = [{ command = "c", service = "s", timeout_sec = 3, user = "u" }]

[verifier.environment]
docker_image = "image:tag"

[solution]
env = { S = "t" }

[environment]
build_timeout_sec = 10
os = "LINUX"
cpus = 2
memory_mb = 1
storage_mb = 2
gpus = 0
network_mode = "no-network"
skills_dir = "/skills"
workdir = "/work"
env = { E = "\${X:-y}" }
mcp_servers = [{ name = "m", transport = "http", url = "http://m/mcp" }, { name = "n", transport = "stdio", command = "n", args = ["-x"] }]

[environment.healthcheck]
command = "true"
interval_sec = 0.5
timeout_sec = 1.25
start_period_sec = 2
start_interval_sec = 3
retries = 4

[[steps]]
name = "one"
min_reward = 0.5
artifacts = ["/a"]

[steps.agent]
timeout_sec = 9
[steps.verifier]
timeout_sec = 8
[steps.healthcheck]
command = "step"

[[steps]]
name = "two"
min_reward = { reward = 1, extra = 0.25 }
`;
  const step = { agent: defaults.agent, verifier: defaults.verifier, healthcheck: null, artifacts: [] };
  const artifact = { destination: null, exclude: [], service: "main", implicit: false };
  expect(read(text)).toEqual({
    config: {
      schemaVersion: "1.4",
      name: "org/task",
      version: "3",
      description: "d",
      source: "registry",
      rewardStrategy: "final",
      agent: {
        timeoutMicros: 1_500_000,
        user: "1000",
        network: { mode: "allowlist", allowedHosts: ["a.example", "b.example"] },
      },
      verifier: {
        timeoutMicros: 2_000_000,
        user: "root",
        network: { mode: "public", allowedHosts: [] },
        env: { K: "v" },
        mode: "separate",
        environment: { ...defaults.environment, dockerImage: "image:tag" },
        collect: [{ command: "c", service: "s", timeoutMicros: 3_000_000, user: "u" }],
      },
      environment: {
        ...defaults.environment,
        buildTimeoutMicros: 10_000_000,
        cpus: 2,
        memoryBytes: 1_048_576,
        storageBytes: 2_097_152,
        network: { mode: "no-network", allowedHosts: [] },
        skillsDir: "/skills",
        workdir: "/work",
        env: { E: "$" + "{X:-y}" },
        mcpServers: [
          { name: "m", transport: "streamable-http", url: "http://m/mcp", command: null, args: [] },
          { name: "n", transport: "stdio", url: null, command: "n", args: ["-x"] },
        ],
        healthcheck: {
          command: "true",
          intervalMicros: 500_000,
          timeoutMicros: 1_250_000,
          startPeriodMicros: 2_000_000,
          startIntervalMicros: 3_000_000,
          retries: 4,
        },
      },
      solutionEnv: { S: "t" },
      artifacts: [
        { ...artifact, source: "/app/out" },
        { ...artifact, source: "data", destination: "x/y", exclude: ["*.o"] },
      ],
      steps: [
        {
          ...step,
          name: "one",
          minReward: { reward: 0.5 },
          agent: { ...defaults.agent, timeoutMicros: 9_000_000 },
          verifier: { ...defaults.verifier, timeoutMicros: 8_000_000 },
          healthcheck: {
            command: "step",
            intervalMicros: 5_000_000,
            timeoutMicros: 30_000_000,
            startPeriodMicros: 0,
            startIntervalMicros: 5_000_000,
            retries: 3,
          },
          artifacts: [{ ...artifact, source: "/a" }],
        },
        { ...step, name: "two", minReward: { reward: 1, extra: 0.25 } },
      ],
      metadata: {
        difficulty: "easy",
        when: "2026-01-02",
        runner: {
          verifier_shared: ["b", "a"],
          oracle_shared: ["c"],
          formats: ["f.json"],
          submission: "/app/s.json",
          public_inputs: ["input.json"],
          reward_key: "score",
        },
      },
      runner: {
        verifierShared: ["a", "b"],
        oracleShared: ["c"],
        formats: ["f.json"],
        submission: "/app/s.json",
        publicInputs: ["input.json"],
        rewardKey: "score",
      },
    },
    problems: [],
    warnings: [],
  });
});

test("legacy spellings give the same values as the current ones, with a warning each", () => {
  const text = 'version = "1.0"\n[environment]\nmemory = "4G"\nstorage = "512M"\nallow_internet = false\n';
  const { config, problems, warnings } = read(text);
  expect({ version: config.schemaVersion, environment: config.environment, problems }).toEqual({
    version: "1.0",
    environment: {
      ...defaults.environment,
      memoryBytes: 4_294_967_296,
      storageBytes: 536_870_912,
      network: { mode: "no-network", allowedHosts: [] },
    },
    problems: [],
  });
  expect(warnings.map(({ code, line, subject }) => `${code} ${line} ${subject}`)).toEqual([
    "DEPRECATED_KEY 1 version",
    "DEPRECATED_KEY 3 environment.memory",
    "DEPRECATED_KEY 4 environment.storage",
    "DEPRECATED_KEY 5 environment.allow_internet",
  ]);
});

test("allow_internet is ignored when the network mode is stated", () => {
  expect(read('[environment]\nallow_internet = true\nnetwork_mode = "no-network"').config.environment.network).toEqual({
    mode: "no-network",
    allowedHosts: [],
  });
});

test("an allow-list without hosts denies all", () => {
  expect(read('[agent]\nnetwork_mode = "allowlist"').config.agent.network).toEqual({
    mode: "allowlist",
    allowedHosts: [],
  });
});

test("values are coerced as Pydantic's lax mode does", () => {
  const text = `
[agent]
timeout_sec = " 1e2 "
[verifier]
timeout_sec = true
[environment]
cpus = "2.0"
memory_mb = 256.0
gpus = false
allow_internet = "off"
[[steps]]
name = "s"
min_reward = "0.5"
`;
  const { config, problems } = read(text);
  expect({
    problems,
    agent: config.agent.timeoutMicros,
    verifier: config.verifier.timeoutMicros,
    cpus: config.environment.cpus,
    memory: config.environment.memoryBytes,
    gpus: config.environment.gpus,
    network: config.environment.network.mode,
    gate: config.steps[0]?.minReward,
  }).toEqual({
    problems: [],
    agent: 100_000_000,
    verifier: 1_000_000,
    cpus: 2,
    memory: 268_435_456,
    gpus: 0,
    network: "no-network",
    gate: { reward: 0.5 },
  });
});

test("an infinite agent timeout is no limit", () => {
  expect(read("[agent]\ntimeout_sec = inf").config.agent.timeoutMicros).toBeNull();
});

test("unknown keys are warned about with their line, in tables of every depth", () => {
  const text =
    'colour = 1\n[task]\nname = "a/b"\nlicence = "x"\n[agent]\ntimeout_secs = 3\n[environment.healthcheck]\ncommand = "c"\nretry = 1\n[nonsense]\nx = 1\n[[steps]]\nname = "s"\nsteps = 2\n[steps.verifier.environment]\ndockerfile = "x"\n';
  expect(read(text).warnings.map(({ code, line, subject }) => `${code} ${line} ${subject}`)).toEqual([
    "UNKNOWN_KEY 1 colour",
    "UNKNOWN_KEY 4 task.licence",
    "UNKNOWN_KEY 6 agent.timeout_secs",
    "UNKNOWN_KEY 9 environment.healthcheck.retry",
    "UNKNOWN_KEY 10 nonsense",
    "UNKNOWN_KEY 14 steps.0.steps",
    "UNKNOWN_KEY 16 steps.0.verifier.environment.dockerfile",
  ]);
});

test("integers of 64 bits keep every digit in the metadata, and floats without a JSON form are kept as text", () => {
  const { config, warnings } = read(
    "[metadata]\nseed = 9223372036854775807\nlow = -9223372036854775808\nsmall = 7\nlimit = inf\n",
  );
  expect(config.metadata).toEqual({ seed: 9223372036854775807n, low: -9223372036854775808n, small: 7, limit: "inf" });
  expect(warnings).toEqual([
    {
      code: "NON_JSON_NUMBER",
      file: "task.toml",
      line: 5,
      subject: "metadata.limit",
      message: 'metadata.limit = inf has no JSON form; it is kept as the string "inf"',
    },
  ]);
});

test("an integer that TOML cannot hold is refused by its key", () => {
  expect(
    problemsOf("[metadata]\nseed = 1\nbig = 18446744073709551616\n[metadata.deep]\nlist = [1, 99999999999999999999]\n"),
  ).toEqual([
    "task.toml:3:1: metadata.big: the integer 18446744073709551616 does not fit in the 64 bits of a TOML integer",
    "task.toml:5:1: metadata.deep.list.1: the integer 99999999999999999999 does not fit in the 64 bits of a TOML integer",
  ]);
});

test("a TOML error names its line and column", () => {
  expect(problemsOf('[task]\nname = "a/b"\ndescription = "regex /a\\s*b/"\n')).toEqual([
    "task.toml:3:25: TOML: unrecognised escape sequence",
  ]);
});

test("all problems of a file are reported at once, each at its place", () => {
  const text = `artifacts = ["/app/../etc", { source = "/x", destination = "/abs" }, { destination = "y" }, 3]
[task]
name = "plain"
[agent]
timeout_sec = "soon"
user = "a b"
[verifier]
timeout_sec = 0
environment_mode = "shared"
collect = [{ service = "main" }]
[verifier.environment]
docker_image = ""
[environment]
cpus = 0.5
memory = "4"
storage = "4G"
storage_mb = 1
os = "plan9"
allowed_hosts = ["x.example"]
workdir = "app"
env = { PORT = 8080 }
[environment.healthcheck]
retries = 0
[environment.tpu]
type = "v5"
topology = "two"
[[environment.mcp_servers]]
transport = "stdio"
[metadata.runner]
verifier_shared = ["../x"]
colour = "red"
submission = "submission.json"
[[steps]]
name = "../up"
[[steps]]
name = "twice"
min_reward = "high"
[[steps]]
name = "twice"
`;
  expect(problemsOf(text)).toEqual([
    "task.toml:1:1: artifacts: entry 4: expected a table, got 3",
    'task.toml:1:1: artifacts: the artifact source "/app/../etc" goes up with ".."',
    'task.toml:1:1: artifacts.1: the destination "/abs" must be relative',
    "task.toml:1:1: artifacts.2: an artifact needs a source",
    'task.toml:3:1: task.name: expected "org/name", got "plain"',
    'task.toml:5:1: agent.timeout_sec: expected a number, got "soon"',
    'task.toml:6:1: agent.user: expected a user name or id, got "a b"',
    "task.toml:8:1: verifier.timeout_sec: expected more than zero seconds, got 0",
    'task.toml:9:1: verifier.environment_mode: "shared" contradicts the environment table beside it; drop one of the two',
    "task.toml:10:1: verifier.collect.0: a collect hook needs a command",
    "task.toml:12:1: verifier.environment.docker_image: the value is empty; leave the key out instead",
    "task.toml:14:1: environment.cpus: expected an integer, got 0.5",
    'task.toml:15:1: environment.memory: expected a size with its unit, such as "512M" or "4G", got "4"',
    'task.toml:16:1: environment.storage: "4G" contradicts storage_mb = 1; keep storage_mb alone',
    'task.toml:18:1: environment.os: expected "linux" or "windows", got "plan9"',
    'task.toml:19:1: environment.allowed_hosts: needs network_mode = "allowlist", which is not set',
    'task.toml:20:1: environment.workdir: expected an absolute path, got "app"',
    "task.toml:21:1: environment.env: PORT: expected a string, got 8080; put it in quotes",
    "task.toml:22:1: environment.healthcheck: a healthcheck needs a command",
    "task.toml:23:1: environment.healthcheck.retries: expected 1 or more, got 0",
    'task.toml:26:1: environment.tpu.topology: expected "NxM" or "NxMxK", got "two"',
    "task.toml:27:1: environment.mcp_servers.0.name: an MCP server needs a name",
    "task.toml:27:1: environment.mcp_servers.0.command: a stdio MCP server needs a command",
    'task.toml:30:1: metadata.runner.verifier_shared: expected the name of a file or folder, got "../x"',
    "task.toml:31:1: metadata.runner.colour: unknown key; known are verifier_shared, oracle_shared, formats, submission, public_inputs, reward_key",
    'task.toml:32:1: metadata.runner.submission: expected an absolute path without "..", got "submission.json"',
    'task.toml:34:1: steps.0.name: a step\'s name is the name of its folder below steps/, got "../up"',
    "task.toml:37:1: steps.1.min_reward: reward: expected a number",
    'task.toml:39:1: steps.2.name: the step "twice" is there twice',
  ]);
});
