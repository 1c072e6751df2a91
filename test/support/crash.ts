import { existsSync } from "node:fs";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { digestBytes } from "../../runner/base/digest.ts";
import { differencesOf } from "../../runner/study/differences.ts";
import type { PairFile } from "../../runner/study/pair-file.ts";
import type { RunReport } from "../../runner/study/run-report.ts";
import { ledgerOf, leftOf, oracle, type Ran, type RunOptions, readObject, runner, start, writeBundle } from "./e2e.ts";
import { talk, writeStudy } from "./e2e-study.ts";

/** About what the opening of both bundles takes. */
const OPENING_MS = 120;
const SIDES = ["control", "treatment"] as const;

/** A study that runs in seconds, both conditions, with gateways and a server, and its plan. */
export interface CrashWorld {
  readonly dir: string;
  /** The folder that `runner plan` wrote. */
  readonly plan: string;
  readonly options: RunOptions;
  /** Trials of each condition. */
  readonly trials: number;
}

/** How a world's agents work: asked by a model through a gateway, or as a plain command. */
export type CrashAgent = "model" | "command";

/** Prepares the study below a folder. One with a model has gateways, networks and a server; one with a command has more trials. */
export async function makeCrashWorld(dir: string, agent: CrashAgent, options: RunOptions = {}): Promise<CrashWorld> {
  const dataset = join(dir, "tasks");
  // Names of its own: the proof of a task is shared by all that run in this folder, and another world would renew it.
  const tasks = (agent === "model" ? ["left"] : ["left", "middle", "right"]).map((name) => `e2e-${agent}-${name}`);
  await mkdir(dir, { recursive: true });
  for (const task of tasks) await writeBundle(dataset, task);
  const proven = await oracle(dataset, join(dir, "oracle"), [], options);
  if (proven.code !== 0) throw new Error(`the oracle failed: ${proven.stdout}${proven.stderr}`);
  const study = await writeStudy(join(dir, "study"), {
    dataset,
    tasks,
    ...(agent === "model"
      ? { conversations: [talk("e2e-model-left", "echo 42 > /app/answer.txt")] }
      : { agent: { name: "command", command: "echo 42 > /app/answer.txt; sleep 0.2" } }),
  });
  const plan = join(dir, "plan");
  await must(["plan", "--study", study, "--out", plan], options);
  return { dir, plan, options, trials: tasks.length };
}

async function must(args: readonly string[], options: RunOptions): Promise<Ran> {
  const ran = await runner(args, options);
  if (ran.code !== 0) throw new Error(`runner ${args.join(" ")} ended with ${ran.code}: ${ran.stdout}${ran.stderr}`);
  return ran;
}

function executeArgs(plan: string, out: string): string[] {
  return ["execute", "--plan", plan, "--condition", "both", "--out", out, "--concurrency", "2", "--execute", "--json"];
}

/** Runs the plan without any harm; gives how long it took in milliseconds. */
export async function runWhole({ plan, options }: CrashWorld, out: string): Promise<number> {
  const from = performance.now();
  await must(executeArgs(plan, out), options);
  return performance.now() - from;
}

/** When harm is done: so long after the start of the process, or after its output folder has appeared. */
export interface Instant {
  readonly after: "start" | "folder";
  readonly milliseconds: number;
}

/** An instant for people. */
export function describe({ after, milliseconds }: Instant): string {
  return `${milliseconds} ms after ${after === "start" ? "its start" : "its folder appeared"}`;
}

/** Starts the plan and does harm at an instant, if the run is still at work then; waits until the run has ended. Says how far the run was. */
export async function harmAfter(
  { plan, options }: CrashWorld,
  out: string,
  instant: Instant,
  harm: (pid: number) => Promise<void>,
): Promise<string> {
  await strike(start(executeArgs(plan, out), options), out, instant, harm);
  const lines = await Promise.all(
    SIDES.map(async (side) => {
      const text = await readFile(join(out, side, "ledger.jsonl"), "utf8").catch(() => null);
      return `${side} ${text === null ? "without a ledger" : `with ${text.split("\n").length - 1} lines`}`;
    }),
  );
  return lines.join(", ");
}

async function strike(
  running: ReturnType<typeof start>,
  out: string,
  { after, milliseconds }: Instant,
  harm: (pid: number) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const { signal } = stop;
  const ended = running.then(() => stop.abort());
  try {
    while (after === "folder" && !existsSync(join(out, "control"))) await sleep(1, undefined, { signal });
    await sleep(milliseconds, undefined, { signal });
    if (running.pid !== undefined) await harm(running.pid);
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
  }
  await ended;
}

/** The harm of a process that dies without a word. */
export async function killHard(pid: number): Promise<void> {
  process.kill(pid, "SIGKILL");
}

/** Ctrl-C: the process seals as interrupted what it has begun. */
export async function interrupt(pid: number): Promise<void> {
  process.kill(pid, "SIGINT");
}

/**
 * Continues a run until nothing is missing, as an operator would: what was never begun is started again, the rest is resumed. A resume can
 * be harmed as well. Gives what was wrong afterwards; nothing when all is as in a run that nobody harmed.
 */
export async function finishAndCheck(
  world: CrashWorld,
  out: string,
  whole: string,
  harmResumeAfter: number | null = null,
): Promise<string[]> {
  const { plan, options, trials } = world;
  if (harmResumeAfter !== null)
    await strike(
      start(["resume", out, "--concurrency", "2"], options),
      out,
      { after: "start", milliseconds: harmResumeAfter },
      killHard,
    );
  const resumed = await runner(["resume", out, "--concurrency", "2", "--json"], options);
  if (resumed.code !== 0) {
    if (!/"(NO_RUN|NOTHING_BEGUN)"/.test(resumed.stdout))
      return [`resume ended with ${resumed.code}: ${resumed.stdout}${resumed.stderr}`];
    const again = await runner(executeArgs(plan, out), options);
    if (again.code !== 0) return [`execute ended with ${again.code}: ${again.stdout}${again.stderr}`];
  }
  const problems: string[] = [];
  const anchors = await anchorsOf(out);
  const given = SIDES.flatMap((side) => [`--${side}-report-sha256`, anchors[side]]);
  const verified = await runner(["verify", out, ...given], options);
  if (verified.code !== 0) problems.push(`verify ended with ${verified.code}: ${verified.stdout}${verified.stderr}`);
  for (const side of SIDES) {
    const bundle = join(out, side);
    const [found, expected] = await Promise.all([derivedOf(bundle), derivedOf(join(whole, side))]);
    for (const { pointer, first, second } of differencesOf(expected, found))
      problems.push(`${side}${pointer}: unharmed ${JSON.stringify(first)}, resumed ${JSON.stringify(second)}`);
    problems.push(...(await countProblems(bundle, trials)).map((problem) => `${side}: ${problem}`));
  }
  const runId = (JSON.parse(await readFile(join(out, "control", "report.json"), "utf8")) as RunReport).runId;
  for (const left of await leftOf(runId, { ...process.env, ...options.env })) problems.push(`left behind: ${left}`);
  const nothing = await runner(["resume", out, "--json"], options);
  if (nothing.code !== 0 || !nothing.stdout.includes('"nothingMissing":true'))
    problems.push(`a second resume ended with ${nothing.code}: ${nothing.stdout}${nothing.stderr}`);
  if (JSON.stringify(await anchorsOf(out)) !== JSON.stringify(anchors))
    problems.push("a second resume changed an anchor");
  if (problems.length === 0) await rm(out, { recursive: true, force: true });
  return problems;
}

/** Both reports' own digests, which the document of the pair must name too. */
async function anchorsOf(out: string): Promise<Record<(typeof SIDES)[number], string>> {
  const pair = JSON.parse(await readFile(join(out, "pair.json"), "utf8")) as PairFile;
  const of = async (side: (typeof SIDES)[number]): Promise<string> => {
    const found = digestBytes(await readFile(join(out, side, "report.json")));
    if (pair[side] !== found) throw new Error(`pair.json says ${pair[side]} of ${side}, its report is ${found}`);
    return found;
  };
  return { control: await of("control"), treatment: await of("treatment") };
}

/** Every trial is sealed once among those that count, and every attempt that was begun is accounted for once. */
async function countProblems(bundle: string, planned: number): Promise<string[]> {
  const report = JSON.parse(await readFile(join(bundle, "report.json"), "utf8")) as RunReport;
  const events = (await ledgerOf(bundle)).map(
    ({ event }) => event as { type: string; number: number; attempt: number },
  );
  const begun = events
    .filter(({ type }) => type === "trial-started")
    .map(({ number, attempt }) => `${number}/${attempt}`);
  const listed = [...report.trials, ...report.superseded, ...(report.cutOff ?? [])].map(
    ({ number, attempt }) => `${number}/${attempt}`,
  );
  const problems: string[] = [];
  if (new Set(report.trials.map(({ number }) => number)).size !== planned || report.trials.length !== planned)
    problems.push(`${report.trials.length} trials count, planned are ${planned}`);
  if (JSON.stringify([...begun].sort()) !== JSON.stringify([...listed].sort()))
    problems.push(`begun were ${begun.join(" ")}, listed are ${listed.join(" ")}`);
  return problems;
}

/** What a run's report and records say that is the same whenever it is run: no times, no identities, no attempts. */
export async function derivedOf(bundle: string): Promise<unknown> {
  const report = JSON.parse(await readFile(join(bundle, "report.json"), "utf8")) as RunReport;
  const { runId: _1, startedAt: _2, finishedAt: _3, ledger: _4, rows, superseded: _5, ...rest } = report;
  const { cutOff: _6, unsealed: _7, earlier: _8, trials, ...fixed } = rest;
  const lines = (await readObject(bundle, rows))
    .toString("utf8")
    .split("\n")
    .filter((line) => line !== "");
  const records = await Promise.all(
    trials.map(async ({ record }) => JSON.parse((await readObject(bundle, record)).toString("utf8")) as unknown),
  );
  return steady({ ...fixed, rows: lines.map((line) => JSON.parse(line) as unknown), records });
}

const SHARED = "shared-filesystem";
const UNSTEADY = /[Mm]icros$|^(attempt|elapsed|startedAt|finishedAt|trace|trajectory|agentOutput)$/;

/** What an engine that died kept a trial from removing is an observation of that trial alone. */
const LEFT = /^not all that .* made could be removed: /;

function steady(value: unknown): unknown {
  if (Array.isArray(value))
    return value.filter((entry) => !(typeof entry === "string" && LEFT.test(entry))).map(steady);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      // A shared verifier runs in a snapshot of its own agent's filesystem.
      .filter(([key]) => !UNSTEADY.test(key) && !(key === "image" && "mode" in value && value.mode === SHARED))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, steady(member)]),
  );
}

/** Instants spread evenly over a run, the first of them before it has begun. */
export function instants(count: number, milliseconds: number): Instant[] {
  return Array.from({ length: count }, (_, index) => ({
    after: "start",
    milliseconds: Math.round((milliseconds * (index + 0.5)) / count),
  }));
}

/** Instants while the bundles are being made and opened, which is over in a moment: denser the sooner after the folder has appeared. */
export function openingInstants(count: number): Instant[] {
  return Array.from({ length: count }, (_, index) => ({
    after: "folder",
    milliseconds: Math.round(OPENING_MS * (index / count) ** 2),
  }));
}
