import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type Dockerode from "dockerode";
import { execa } from "execa";
import { connectEngine } from "../../runner/docker/engine.ts";
import { LABEL } from "../../runner/docker/ownership.ts";
import { objectPath } from "../../runner/evidence/store.ts";
import type { OracleResult } from "../../runner/study/oracle.ts";
import type { TrialRow } from "../../runner/study/trial-row.ts";
import type { TaskValidation } from "../../runner/study/validate-task.ts";
import type { TrialRecord } from "../../runner/trial/record.ts";

/** The project's folder. */
export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const RUNNER = join(ROOT, "bin", "runner.js");
export const BUNDLES = join(ROOT, "test", "fixtures", "bundles");

/** How one call of the command line ended. */
export interface Ran {
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Another program than the built command line of this folder. */
  readonly program?: string;
}

/** Starts the built command line as a user would; the result is a promise and the process. */
export function start(args: readonly string[], { cwd = ROOT, env = {}, program = RUNNER }: RunOptions = {}) {
  return execa(process.execPath, [program, ...args], { cwd, env, reject: false, stripFinalNewline: false });
}

/** Runs the built command line to its end. */
export async function runner(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { exitCode, stdout, stderr } = await start(args, options);
  return { code: exitCode, stdout, stderr };
}

/** The JSON on stdout; what the command said otherwise, when there is none. */
export function json<T>({ stdout, stderr }: Ran): T {
  try {
    return JSON.parse(stdout) as T;
  } catch {
    throw new Error(`no JSON on stdout: ${stdout}\n${stderr}`);
  }
}

/** The error that a command gave with `--json`. */
export interface Refusal {
  readonly error: { readonly code: string; readonly message: string; readonly hint?: string };
}

/** A folder for one test file; `remove` deletes it. */
export async function scratch(): Promise<{ readonly dir: string; readonly remove: () => Promise<void> }> {
  const dir = await mkdtemp(join(tmpdir(), "runner-e2e-"));
  return { dir, remove: () => rm(dir, { recursive: true, force: true }) };
}

/** Files by path below a folder; a script (`.sh`) is made executable. */
export type Files = Readonly<Record<string, string>>;

export async function writeFiles(dir: string, files: Files): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const file = join(dir, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content, { mode: path.endsWith(".sh") ? 0o755 : 0o644 });
  }
}

/** A small Harbor bundle: an answer in `/app/answer.txt`, graded by `test` in the agent's filesystem unless `toml` says otherwise. */
export interface Bundle {
  readonly toml?: string;
  readonly dockerfile?: string;
  readonly instruction?: string;
  readonly test?: string;
  /** The reference solution. */
  readonly solve?: string;
  /** Wrong or hostile solutions by name. */
  readonly traps?: Readonly<Record<string, string>>;
  readonly files?: Files;
}

export const NO_NETWORK = '[environment]\nnetwork_mode = "no-network"\n';

/** Writes 1 when the answer is 42, else 0. */
export const GRADE_42 = grade('[ "$(cat /app/answer.txt 2>/dev/null)" = 42 ]');
export const SOLVE_42 = "#!/bin/sh\necho 42 > /app/answer.txt\n";

/** A shell script. */
export function sh(...lines: readonly string[]): string {
  return `#!/bin/sh\n${lines.join("\n")}\n`;
}

/** A test script that writes 1 when the shell condition holds, else 0. */
export function grade(condition: string): string {
  return `#!/bin/sh\nif ${condition}; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n`;
}

export async function writeBundle(dataset: string, id: string, bundle: Bundle = {}): Promise<void> {
  const traps = Object.entries(bundle.traps ?? {}).flatMap(([name, script]) => [
    [`traps/${name}/trap.json`, `${JSON.stringify({ fails: "answer", why: "It does not solve the task." })}\n`],
    [`traps/${name}/solve.sh`, script],
  ]);
  await writeFiles(join(dataset, id), {
    "task.toml": bundle.toml ?? NO_NETWORK,
    "instruction.md": bundle.instruction ?? "Write the answer to /app/answer.txt.\n",
    "environment/Dockerfile": bundle.dockerfile ?? "FROM jacobian-runner/workbench\n",
    "tests/test.sh": bundle.test ?? GRADE_42,
    "solution/solve.sh": bundle.solve ?? SOLVE_42,
    ...Object.fromEntries(traps),
    ...bundle.files,
  });
}

/** Runs the oracle on a dataset and gives its JSON result. */
export async function oracle(
  dataset: string,
  out: string,
  args: readonly string[] = [],
  options: RunOptions = {},
): Promise<Ran & { readonly result: OracleResult }> {
  const ran = await runner(["oracle", "--dataset", dataset, "--out", out, "--json", ...args], options);
  return { ...ran, result: json<OracleResult>(ran) };
}

/** One run of a task's validation as a line: role, outcome, reward, cause. */
export function runLines({ runs }: TaskValidation): string[] {
  return runs.map(({ role, outcome, reward, cause }) => `${role}: ${outcome} ${cause === null ? reward : cause.code}`);
}

/** The JSON result of `execute`. */
export interface Executed {
  readonly planDigest: string;
  readonly runs: readonly {
    readonly dir: string;
    readonly condition: string;
    readonly report_sha256: string;
    /** The anchor that this one replaces; null for a run that was not resumed. */
    readonly supersedes: string | null;
    readonly outcomes: Readonly<Record<string, number>>;
    readonly rows: readonly TrialRow[];
  }[];
}

interface Ref {
  readonly digest: string;
}

/** The bytes of an object of a bundle. */
export async function readObject(bundle: string, ref: Ref): Promise<Buffer> {
  return readFile(join(bundle, objectPath(ref.digest as Parameters<typeof objectPath>[0])));
}

export async function readRecord(bundle: string, ref: Ref): Promise<TrialRecord> {
  return JSON.parse((await readObject(bundle, ref)).toString("utf8")) as TrialRecord;
}

/** The sealed record of each trial of an executed run, by trial number. */
export async function recordsOf(bundle: string): Promise<TrialRecord[]> {
  const report = JSON.parse(await readFile(join(bundle, "report.json"), "utf8")) as { trials: { record: Ref }[] };
  return Promise.all(report.trials.map(({ record }) => readRecord(bundle, record)));
}

/** The ledger's events, in order. */
export async function ledgerOf(bundle: string): Promise<Record<string, unknown>[]> {
  const text = await readFile(join(bundle, "ledger.jsonl"), "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Everything in the engine that carries a run's label, as `kind role`. */
export async function leftOf(runId: string, env: NodeJS.ProcessEnv = process.env): Promise<string[]> {
  await using engine = await connectEngine({ env });
  return listLabelled(engine.docker, `${LABEL.run}=${runId}`);
}

async function listLabelled(docker: Dockerode, label: string): Promise<string[]> {
  const filters = { label: [label] };
  const [containers, networks, volumes, images] = await Promise.all([
    docker.listContainers({ all: true, filters }),
    docker.listNetworks({ filters }),
    docker.listVolumes({ filters }),
    docker.listImages({ filters: JSON.stringify(filters) }),
  ]);
  const role = (labels: Readonly<Record<string, string>> | null | undefined) => labels?.[LABEL.role] ?? "?";
  return [
    ...containers.map(({ Labels }) => `container ${role(Labels)}`),
    ...networks.map(({ Labels }) => `network ${role(Labels)}`),
    ...(volumes.Volumes ?? []).map(({ Labels }) => `volume ${role(Labels)}`),
    ...images.map(({ Labels }) => `image ${role(Labels)}`),
  ].sort();
}

/** Waits until a condition holds; the time limit is a safety net, not an expectation. */
export async function until<T>(what: string, look: () => Promise<T | undefined | false>, seconds = 120): Promise<T> {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`waited ${seconds} s for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Everything in the engine that belongs to a process of the runner. */
export async function leftOfProcess(pid: number | undefined): Promise<string[]> {
  await using engine = await connectEngine();
  return listLabelled(engine.docker, `${LABEL.pid}=${pid}`);
}
