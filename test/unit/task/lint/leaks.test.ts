import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { ImageFile } from "../../../../runner/task/lint/leaks.ts";
import { addFiles, makeFolder } from "../support.ts";
import { lint, lintFolder, lintSplit, quiet } from "./support.ts";

const SECRET = "the hidden answer is 8128, a perfect number";
const graded = {
  ...quiet,
  "tests/expected.txt": `short\n    ${SECRET}  \r\nanother hidden line, which is long enough\n`,
};

/** An image's files as the caller streams them. */
async function* image(files: Readonly<Record<string, string | Buffer>>): AsyncGenerator<ImageFile> {
  for (const [path, content] of Object.entries(files)) yield { path, content: [Buffer.from(content)] };
}

const leak = (place: string, more = "") =>
  `error leak ${place}: line 2 of the hidden file tests/expected.txt stands here: ${JSON.stringify(SECRET)}${more}`;

test("a hidden line that stands in an environment file is a leak, wherever it stands in its line", async () => {
  expect(
    await lint({
      ...graded,
      "environment/Dockerfile": `FROM jacobian-runner/workbench\nRUN echo "${SECRET}" > /root/x\n`,
      "environment/notes.md": `# Notes\n\n${SECRET}\nanother hidden line, which is long enough\n`,
    }),
  ).toEqual([leak("environment/Dockerfile:2"), leak("environment/notes.md:3", " (and 1 more of its lines)")]);
});

test("a line of 31 bytes is no leak and one of 32 bytes is", async () => {
  const files = (length: number) => ({
    ...quiet,
    "tests/expected.txt": "a".repeat(length),
    "environment/data.txt": "a".repeat(length),
  });
  expect(await lint(files(31))).toEqual([]);
  expect(await lint(files(32))).toEqual([
    `error leak environment/data.txt:1: line 1 of the hidden file tests/expected.txt stands here: "${"a".repeat(32)}"`,
  ]);
});

test("lines of the oracle and of traps are hidden too, and a step's working files are seen by the agent", async () => {
  const instruction = { "steps/s/instruction.md": "Write it to `/app/answer.txt`.\n" };
  expect(
    await lint({
      ...quiet,
      ...instruction,
      "task.toml": '[environment]\nnetwork_mode = "no-network"\n[[steps]]\nname = "s"\n',
      "solution/solve.sh!": "#!/bin/bash\n# compute it by the second method, modulo 97\necho x > /app/answer.txt\n",
      "traps/wrong/artifacts/app/answer.txt": "the wrong answer is 8129, one too many\n",
      "steps/s/workdir/hint.txt":
        "# compute it by the second method, modulo 97\nthe wrong answer is 8129, one too many\n",
    }),
  ).toEqual([
    'error leak steps/s/workdir/hint.txt:1: line 2 of the hidden file solution/solve.sh stands here: "# compute it by the second method, modulo 97"',
    'error leak steps/s/workdir/hint.txt:2: line 1 of the hidden file traps/wrong/artifacts/app/answer.txt stands here: "the wrong answer is 8129, one too many"',
  ]);
});

test("lines of the instruction, of a declared public input and of the base image do not count", async () => {
  const files = { ...graded, "environment/notes.md": `${SECRET}\n` };
  expect(await lint({ ...files, "instruction.md": `Write that ${SECRET} to \`/app/answer.txt\`.\n` })).toEqual([]);
  expect(
    await lint({
      ...files,
      "task.toml": '[metadata.runner]\npublic_inputs = ["notes.md"]\n[environment]\nnetwork_mode = "no-network"\n',
    }),
  ).toEqual([]);
  expect(
    await lint(files, { image: () => ({ layers: image({}), base: image({ "/usr/share/doc": `x ${SECRET} y` }) }) }),
  ).toEqual([]);
});

test("a verifier's frozen copy of input.json is no leak", async () => {
  const input = `${JSON.stringify({ instance: "frozen", numbers: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] })}\n`;
  expect(await lint({ ...quiet, "environment/input.json": input, "tests/input.json": input })).toEqual([]);
  expect(await lint({ ...quiet, "environment/data.json": input, "tests/input.json": input })).toHaveLength(1);
});

test("a shared format is public, hidden shared code is not", async () => {
  const text = "def encode(value): return sorted(value)\n";
  const findings = await lintSplit({
    "tasks/t/task.toml": `artifacts = ["/app/submission.json"]
[metadata.runner]
verifier_shared = ["kernel"]
formats = ["f.md"]
[verifier.environment]
docker_image = "jacobian-runner/verifier"
network_mode = "no-network"
[environment]
network_mode = "no-network"
`,
    "tasks/t/instruction.md": "Write `/app/submission.json`.\n",
    "tasks/t/environment/Dockerfile": "FROM jacobian-runner/workbench\n",
    "tasks/t/environment/submission_schema.json": "{}",
    "tasks/t/environment/format.md": "A format that both halves may know about.\n",
    "tasks/t/environment/code.py": text,
    "tasks/formats/f.md": "A format that both halves may know about.\n",
    "verifiers/t/test.sh!": "#!/bin/bash\npython3 -m shared.kernel > /logs/verifier/reward.json\n",
    "verifiers/shared/kernel/k.py": text,
    "oracle/t/solve.sh!": "#!/bin/bash\n",
    ...Object.fromEntries(
      ["a", "b", "c"].flatMap((trap) => [
        [`oracle/t/traps/${trap}/trap.json`, '{"fails":"x","why":"w"}'],
        [`oracle/t/traps/${trap}/artifacts/app/submission.json`, "{}"],
      ]),
    ),
  });
  expect(findings).toEqual([
    `error leak tasks/t/environment/code.py:1: line 1 of the hidden file verifiers/shared/kernel/k.py stands here: ${JSON.stringify(text.trim())}`,
  ]);
});

test("a gzipped file of the environment is looked into", async () => {
  expect(await lint({ ...graded, "environment/notes.gz": gzipSync(`x\n${SECRET}\n`) })).toEqual([
    leak("environment/notes.gz (gunzipped):2"),
  ]);
});

test("layers above the base are searched file by file", async () => {
  const layers = image({ "/usr/bin/tool": Buffer.from([0, 1, 2]), "/root/.bash_history": `ls\necho ${SECRET}\n` });
  expect(await lint(graded, { image: () => ({ layers, base: image({ "/etc/motd": "hello" }) }) })).toEqual([
    leak("image:/root/.bash_history:2"),
  ]);
});

/** A repository whose working tree is clean while its history holds the hidden line. */
async function makeRepository(dir: string, pack: boolean): Promise<void> {
  const git = (...args: string[]) =>
    execFileSync("git", args, {
      cwd: dir,
      env: {
        PATH: process.env.PATH,
        GIT_CONFIG_GLOBAL: "/dev/null",
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_AUTHOR_NAME: "a",
        GIT_AUTHOR_EMAIL: "a@example.org",
        GIT_COMMITTER_NAME: "a",
        GIT_COMMITTER_EMAIL: "a@example.org",
        GIT_AUTHOR_DATE: "2026-01-01T00:00:00Z",
        GIT_COMMITTER_DATE: "2026-01-01T00:00:00Z",
      },
    });
  await mkdir(dir, { recursive: true });
  git("init", "-q");
  await addFiles(dir, { "answer.txt": `x\n${SECRET}\n` });
  git("add", ".");
  git("commit", "-q", "-m", "fix");
  await addFiles(dir, { "answer.txt": "x\n" });
  git("commit", "-q", "-a", "-m", "start");
  if (pack) git("gc", "-q", "--aggressive");
}

const blob = "3bdaf2a8bed87ab2e5ad7a4ec9cd54e0e2b4f7ef";

test.each([false, true])("the history of a repository in the environment is searched (packed: %s)", async (pack) => {
  const dir = await makeFolder(graded);
  await makeRepository(join(dir, "environment/repo"), pack);
  const findings = await lintFolder(dir);
  expect(findings.map((finding) => finding.replace(/blob [0-9a-f]{40}/, `blob ${blob}`))).toEqual([
    leak(`environment/repo/.git blob ${blob}:2`),
  ]);
});

test.each([false, true])("the history of a repository in a layer is searched (packed: %s)", async (pack) => {
  const repository = await makeFolder({});
  await makeRepository(repository, pack);
  const files: Record<string, Buffer> = {};
  for (const entry of await readdir(join(repository, ".git"), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files[path.replace(repository, "/src")] = await readFile(path);
  }
  const findings = await lint(graded, { image: () => ({ layers: image(files), base: image({}) }) });
  expect(findings.map((finding) => finding.replace(/blob [0-9a-f]{40}/, `blob ${blob}`))).toEqual([
    leak(`image:/src/.git blob ${blob}:2`),
  ]);
});

test("a repository whose objects cannot be read is an error, not a clean one", async () => {
  const dir = await makeFolder(graded);
  await makeRepository(join(dir, "environment/repo"), true);
  const packs = join(dir, "environment/repo/.git/objects/pack");
  for (const name of await readdir(packs)) {
    if (name.endsWith(".pack")) {
      await rm(join(packs, name));
      await addFiles(packs, { [name]: "not a pack" });
    }
  }
  const findings = await lintFolder(dir);
  expect(findings.map((finding) => finding.slice(0, 92))).toEqual(
    ["error leak-unscanned environment/repo/.git: git objects could not be searched for hidden text:"].map((text) =>
      text.slice(0, 92),
    ),
  );
});
