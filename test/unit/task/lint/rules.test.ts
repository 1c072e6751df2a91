import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { RunnerError } from "../../../../runner/base/errors.ts";
import { lintDataset } from "../../../../runner/task/lint/lint-dataset.ts";
import { bundle, bundles, makeFolder, rejection } from "../support.ts";
import { lint, lintFolder, lintSplit, quiet } from "./support.ts";

test("a sound bundle gives no finding", async () => {
  expect(await lint({})).toEqual([]);
});

test("no fixture that should run has an error", async () => {
  const linted = await lintDataset(join(bundles, "good"));
  expect(linted.flatMap(({ findings }) => findings.filter((finding) => finding.level === "error"))).toEqual([]);
});

test("a task that does not load is a finding with its place, and the others are linted all the same", async () => {
  const dir = join(bundles, "broken");
  const linted = await lintDataset(dir, { tasks: new Set(["bad-escape", "healthy"]) });
  expect(
    linted.map(({ id, findings }) => [
      id,
      findings.map((f) => `${f.level} ${f.rule} ${f.file?.replace(`${dir}/`, "")}:${f.line}: ${f.message}`),
    ]),
  ).toEqual([
    ["bad-escape", ["error load bad-escape/task.toml:3: column 25: TOML: unrecognised escape sequence"]],
    [
      "healthy",
      [
        "warning traps-missing healthy:null: the task has no traps, so nothing shows that its verifier rejects wrong work",
        "warning oracle-missing healthy:null: the task has no reference solution: nothing shows that it can be solved",
      ],
    ],
  ]);
});

test("a dataset without the wanted tasks is an error", async () => {
  const dir = await makeFolder(bundle("one"));
  const thrown = await rejection(lintDataset(dir, { tasks: new Set(["one", "two"]) }));
  expect(thrown instanceof RunnerError && `${thrown.code}: ${thrown.message}`).toBe(
    `NO_TASKS: ${dir} holds no task "two"`,
  );
});

test("bases without a digest are errors, also behind ARG, stages, --platform and COPY --from", async () => {
  const digest = `@sha256:${"a".repeat(64)}`;
  const dockerfile = `# syntax=docker/dockerfile:1
ARG TAG=24.04
ARG BASE=ubuntu
FROM --platform=linux/amd64 \${BASE}:\${TAG} AS build
RUN echo \\
    # a comment between
    hello
FROM python:3.13${digest}
COPY --from=build /x /x
COPY --from=0 /x /x
COPY --from=busybox /bin/busybox /bin/
FROM build
FROM jacobian-runner/workbench:latest
RUN cat <<EOF
FROM nowhere
EOF
FROM scratch
`;
  expect(await lint({ "environment/Dockerfile": dockerfile })).toEqual([
    'error unpinned-base environment/Dockerfile:4: the base "ubuntu:24.04" has no digest: another push changes the task without a change of its files',
    'error unpinned-base environment/Dockerfile:11: the base "busybox" has no digest: another push changes the task without a change of its files',
  ]);
});

test("a prebuilt image needs a digest, and an image map decides what is used", async () => {
  const files = { "task.toml": '[environment]\nnetwork_mode = "no-network"\ndocker_image = "ubuntu:24.04"\n' };
  expect(await lint(files)).toEqual([
    'error unpinned-base task.toml: environment.docker_image "ubuntu:24.04" has no digest: another push changes the task without a change of its files',
  ]);
  expect(
    await lint(files, { mapImage: (reference) => (reference === "ubuntu:24.04" ? "jacobian-runner/base" : undefined) }),
  ).toEqual([]);
});

test("scripts with CRLF and entry scripts without a shebang are errors", async () => {
  expect(
    await lint({
      "tests/test.sh": "#!/bin/bash\r\necho 0 > /logs/verifier/reward.txt\r\n",
      "tests/tool": "#!/usr/bin/env python3\nprint()\r\n",
      "tests/lib.sh": "helper() { :; }\n",
      "tests/data.csv": "a,b\r\n",
      "solution/solve.sh": "echo x > /app/answer.txt\n",
    }),
  ).toEqual([
    "error shebang solution/solve.sh:1: the script has no shebang, and it is run directly",
    "error crlf tests/test.sh:1: invalid_task: the script has CRLF line ends, which the shell takes for part of its commands and of the shebang",
    "error crlf tests/tool:2: invalid_task: the script has CRLF line ends, which the shell takes for part of its commands and of the shebang",
  ]);
});

test("a verifier that fetches things in a phase without network is an error, an oracle a warning", async () => {
  const files = {
    "tests/test.sh!": `#!/bin/bash
apt-get update && apt-get install -y curl
curl -LsSf https://astral.sh/uv/install.sh | sh
# pip install in a comment
curl http://localhost:8000/health
command -v curl
uvx pytest /tests && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt
`,
    "tests/check.py": "import urllib.request\nurllib.request.urlopen(url)\n",
    "solution/solve.sh!": "#!/bin/bash\npip install numpy\necho x > /app/answer.txt\n",
  };
  const findings = [
    "error verifier-needs-network tests/check.py:2: the verifier fetches a URL (urllib.request.urlopen(url)), and its phase has no network",
    "error verifier-needs-network tests/test.sh:2: the verifier installs system packages (apt-get update && apt-get install -y curl), and its phase has no network",
    "error verifier-needs-network tests/test.sh:3: the verifier fetches a URL (curl -LsSf https://astral.sh/uv/install.sh | sh), and its phase has no network",
    "error verifier-needs-network tests/test.sh:7: the verifier fetches a tool to run it (uvx pytest /tests && echo 1 > /logs/verifier/reward.txt || e), and its phase has no network",
    "warning oracle-needs-network solution/solve.sh:2: the oracle installs Python packages (pip install numpy), and its phase has no network",
  ];
  expect(await lint(files)).toEqual(findings);
  const online = '[verifier]\nnetwork_mode = "public"\n[environment]\nnetwork_mode = "no-network"\n';
  expect(await lint({ ...files, "task.toml": online })).toEqual(findings.slice(4));
});

test.each([
  [
    "#!/bin/bash\npytest /tests || true; echo 1 > /logs/verifier/reward.txt\n",
    ["verifier-always-passes tests/test.sh:2"],
  ],
  [
    "#!/bin/bash\npytest /tests\necho '{\"reward\": 1.0}' > /logs/verifier/reward.json\n",
    ["verifier-always-passes tests/test.sh:3"],
  ],
  [
    "#!/bin/bash\necho 0 > /logs/verifier/reward.txt\nprintf '1\\n' | tee /logs/verifier/reward.txt\n",
    ["verifier-always-passes tests/test.sh:3"],
  ],
  ["#!/bin/bash\necho 0 > /logs/verifier/reward.txt\npytest && echo 1 > /logs/verifier/reward.txt\n", []],
  ["#!/bin/bash\necho 1 > /logs/verifier/reward.txt\npytest || echo 0 > /logs/verifier/reward.txt\n", []],
  [
    "#!/bin/bash\nif pytest; then\n  echo 1 > /logs/verifier/reward.txt\nelse\n  echo 0 > /logs/verifier/reward.txt\nfi\n",
    [],
  ],
  [
    "#!/bin/bash\nset -e\nfalse\nif [ $? -eq 0 ]; then echo 1 > reward.txt; else echo 0 > reward.txt; fi\n",
    ["verifier-dead-branch tests/test.sh:4"],
  ],
  [
    '#!/bin/bash\nset -euo pipefail\npytest\nif [[ "$?" == 0 ]]; then echo 1 > reward.txt; else echo 0 > reward.txt; fi\n',
    ["verifier-dead-branch tests/test.sh:4"],
  ],
  [
    "#!/bin/bash\nset -e\nset +e\npytest\nif [ $? -eq 0 ]; then echo 1 > reward.txt; else echo 0 > reward.txt; fi\n",
    [],
  ],
])("the test script %j gives %j", async (script, expected) => {
  const findings = await lint({ "tests/test.sh!": script });
  expect(findings.map((finding) => finding.split(": ")[0])).toEqual(expected.map((finding) => `error ${finding}`));
});

test("a verifier that never mentions a reward is a warning", async () => {
  expect(await lint({ "tests/test.sh!": "#!/bin/bash\ntrue\n" })).toEqual([
    "warning verifier-writes-no-reward tests/test.sh: no file of the verifier mentions a reward, so none may be written",
  ]);
});

test("a separate verifier's image must hold the tests, and something must be collected", async () => {
  const toml = '[verifier]\nenvironment_mode = "separate"\n[environment]\nnetwork_mode = "no-network"\n';
  expect(await lint({ "task.toml": toml, "tests/Dockerfile": "FROM jacobian-runner/verifier\n" })).toEqual([
    "error nothing-collected task.toml: the separate verifier of the step main gets no artifact, so an honest solution scores 0",
    "error verifier-image-without-tests tests/Dockerfile: the verifier's image copies nothing from tests/, so it holds no /tests/test.sh and no reward can be written",
  ]);
  const sound = {
    "task.toml": `artifacts = ["/app/answer.txt"]\n${toml}`,
    "tests/Dockerfile": "FROM jacobian-runner/verifier\nCOPY . /tests/\n",
  };
  expect(await lint(sound)).toEqual([]);
});

test("links and large files are reported", async () => {
  const dir = await makeFolder({ ...quiet, "environment/big.bin": Buffer.alloc(11 * 1024 * 1024) });
  await mkdir(join(dir, "tests/deep"));
  await symlink("/etc/passwd", join(dir, "tests/deep/link"));
  expect(await lintFolder(dir)).toEqual([
    "error symlink tests/deep/link: a symbolic link: what is digested would not be what runs",
    "warning large-file environment/big.bin: the file has 11534336 bytes; every trial copies it or every build sends it",
  ]);
});

test("keys and tokens are reported without their value", async () => {
  const findings = await lint({
    "task.toml": `[environment]\nnetwork_mode = "no-network"\n[environment.env]\nOPENAI_API_KEY = "abc"\nHF_TOKEN = "x"\nMY_API_KEY = "\${MY_API_KEY:-}"\n`,
    "environment/.env": `A=1\nB=sk-${"x".repeat(24)}\n`,
    "tests/key.pem": "-----BEGIN RSA PRIVATE KEY-----\n",
    "instruction.md": `Use ghp_${"a".repeat(36)} and write /app/answer.txt\n`,
  });
  expect(findings).toEqual([
    "error secret environment/.env:2: the line looks like it holds a model provider's key",
    "error secret instruction.md:1: the line looks like it holds a GitHub token",
    "error secret task.toml: environment.env.OPENAI_API_KEY is written out, though its name is a provider's key",
    "error secret tests/key.pem:1: the line looks like it holds a private key",
  ]);
});

test("what the loader warns about and what a study refuses are findings", async () => {
  const toml =
    'colour = 1\nversion = "1.0"\nartifacts = ["/a", "/a/b"]\n[metadata]\nx = nan\n[environment]\ngpus = 2\nallow_internet = true\n';
  expect(await lint({ "task.toml": toml })).toEqual([
    "warning refused task.toml: GPU (environment.gpus): it needs 2 GPU",
    'warning refused task.toml: PUBLIC_AGENT_NETWORK (agent.network_mode): its agent phase has a public network; an agent that can fetch the server is no control (a study may say "allowPublicNetwork")',
    "warning unknown-key task.toml:1: the key colour means nothing here; it only counts in the task's digest",
    "warning deprecated-key task.toml:2: version is the legacy spelling of schema_version",
    "warning artifact-overlap task.toml:3: the artifact /a/b overlaps /a; the first one takes the files both name",
    'warning non-json-number task.toml:5: metadata.x = nan has no JSON form; it is kept as the string "nan"',
    'warning deprecated-key task.toml:8: allow_internet is deprecated; write network_mode = "no-network" or "public"',
  ]);
});

test("healthchecks that prove nothing or need a tool that is not there are warnings", async () => {
  const check = (command: string) => ({
    "task.toml": `[environment]\nnetwork_mode = "no-network"\n[environment.healthcheck]\ncommand = ${JSON.stringify(command)}\n`,
  });
  expect([
    ...(await lint(check("server --help"))),
    ...(await lint(check("wget -q localhost"))),
    ...(await lint(check("curl -f localhost"))),
    ...(await lint({
      ...check("wget -q localhost"),
      "environment/Dockerfile": "FROM jacobian-runner/base\nRUN apt-get install -y wget\n",
    })),
  ]).toEqual([
    'warning healthcheck-proves-nothing task.toml: environment.healthcheck runs "server --help", which succeeds whatever the state of the environment',
    "warning healthcheck-command task.toml: environment.healthcheck needs wget, and the Dockerfile does not install it: the check may never succeed",
  ]);
});

test("gates that no reward can meet are errors", async () => {
  const toml = `[environment]
network_mode = "no-network"
[[steps]]
name = "a"
min_reward = 1.5
[[steps]]
name = "b"
min_reward = { style = 0.5, reward = 0.5 }
`;
  const step = { "instruction.md": "x", "solution/solve.sh!": "#!/bin/bash\n" };
  const steps = Object.fromEntries(
    ["a", "b"].flatMap((name) => Object.entries(step).map(([path, text]) => [`steps/${name}/${path}`, text])),
  );
  expect(await lint({ "task.toml": toml, ...steps })).toEqual([
    "error min-reward task.toml: the step a asks for reward of at least 1.5, and a reward is at most 1",
    'error min-reward task.toml: the step b gates the key "style", which no verifier writes: the trial always ends there',
  ]);
});

test("an own task needs a separate verifier, no network, a schema, an oracle and three traps", async () => {
  expect(
    await lintSplit({
      "tasks/t/task.toml": "",
      "tasks/t/instruction.md": "Write it down.\n",
      "tasks/t/environment/Dockerfile": "FROM jacobian-runner/workbench\n",
      "verifiers/t/test.sh!": "#!/bin/bash\npython3 /tests/grade.py\n",
      "verifiers/t/grade.py": 'write("reward.json"); write("verdict.json"); check("answer.sum")\n',
      "oracle/t/submission.json": "{}",
      "oracle/t/traps/a/trap.json": '{"fails":"answer.sum","why":"w"}',
      "oracle/t/traps/a/artifacts/app/submission.json": "{}",
      "oracle/t/traps/b/trap.json": '{"fails":"answer.shape","why":"w"}',
      "oracle/t/traps/b/artifacts/app/submission.json": "{}",
    }),
  ).toEqual([
    "error oracle-missing oracle/t/solve.sh: the task has no reference solution: nothing shows that it can be solved",
    "error oracle-stores-answer oracle/t/submission.json: the oracle holds a finished answer instead of computing it",
    "error traps-missing tasks/t: the task has 2 of at least 3 traps",
    "error own-shape tasks/t/task.toml: a task of the split layout: its verifier is not separate",
    "error own-shape tasks/t/task.toml: a task of the split layout: its agent phase is public, not no-network",
    "error own-shape tasks/t/task.toml: a task of the split layout: its verifier phase is public, not no-network",
    "error own-shape tasks/t/task.toml: a task of the split layout: it has no environment/submission_schema.json",
    'warning trap-check-unknown oracle/t/traps/b/trap.json: the verifier never names the check "answer.shape" that the trap should fail',
    'warning refused tasks/t/task.toml: PUBLIC_AGENT_NETWORK (agent.network_mode): its agent phase has a public network; an agent that can fetch the server is no control (a study may say "allowPublicNetwork")',
  ]);
});

test("instruction and schema must agree on the path and every required key, and the schema must be closed", async () => {
  const schema = {
    type: "object",
    required: ["rank", "basis_used", "kind"],
    properties: {
      rank: { type: "integer", default: 3 },
      basis_used: { type: "object", properties: { x: {} }, required: ["x"] },
      kind: { const: "matrix" },
      value: { enum: [42] },
      instance: { const: "from-the-input" },
    },
  };
  expect(
    await lint({
      "task.toml": 'artifacts = ["/app/out/submission.json"]\n[environment]\nnetwork_mode = "no-network"\n',
      "environment/submission_schema.json": JSON.stringify(schema),
      "environment/input.json": '{"instance": "from-the-input"}',
      "instruction.md":
        "Read `/app/missing.json` and write the `rank` of kind matrix to `/app/submission.json`; x marks the basis.\n",
    }),
  ).toEqual([
    "error schema-open environment/submission_schema.json: the object at the root allows any further key",
    'error schema-field-unmentioned environment/submission_schema.json: the key "basis_used", required at the root, is not named in the instruction',
    "error schema-open environment/submission_schema.json: the object at /properties/basis_used allows any further key",
    "error schema-answer environment/submission_schema.json: /properties/value allows one value, 42, which neither the instruction nor the input names: it gives an answer away",
    "error submission-path instruction.md: the instruction does not name the submission's path /app/out/submission.json; it names /app/submission.json instead",
    "warning schema-answer environment/submission_schema.json: /properties/rank has default, which can give an answer away",
    "warning instruction-path instruction.md:1: the instruction names /app/missing.json, which no file of the environment, artifact, oracle or verifier knows",
  ]);
});

test("a submission that a separate verifier never gets, and a schema that is none, are errors", async () => {
  const findings = await lint({
    "task.toml":
      '[metadata.runner]\nsubmission = "/app/submission.json"\n[verifier.environment]\ndocker_image = "jacobian-runner/verifier"\n[environment]\nnetwork_mode = "no-network"\n',
    "environment/submission_schema.json": '{"type": "object", "additionalPropertys": false}',
    "instruction.md": "Write `/app/submission.json`.\n",
  });
  expect(findings).toEqual([
    'error schema-invalid environment/submission_schema.json: strict mode: unknown keyword: "additionalPropertys"',
    "error nothing-collected task.toml: the submission /app/submission.json is no artifact, so the separate verifier never sees it and an honest solution scores 0",
  ]);
});
