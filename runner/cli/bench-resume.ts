import { mkdtemp, open, rm, stat } from "node:fs/promises";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { execa } from "execa";
import { RunnerError } from "../base/errors.ts";
import { requireDisk } from "../docker/disk.ts";
import { ensureEngine } from "../docker/ensure-engine.ts";
import { BUNDLE } from "../evidence/bundle.ts";
import { makePlan } from "../study/make-plan.ts";
import { cleanUpDeadRuns } from "../study/run-registry.ts";
import { loadRequestedStudy, planRequestOf, runRequestSchema } from "../study/run-request.ts";
import { writeUnfinishedRun } from "../study/unfinished-run.ts";
import type { Run } from "./command.ts";
import { DEMO_STUDY } from "./demo-study.ts";
import type { OPTIONS } from "./options.ts";

const TASK = "parity-sum-01";
/** Trials that are left to the resume. */
const MISSING = 10;
/** Most seconds until the first missing trial starts. */
const BAR_SECONDS = 10;
const POLL_MS = 10;

export const run: Run<typeof OPTIONS.benchResume> = async (options, _positionals, io) => {
  const { projectRoot, env, say, signal } = io;
  const trials = options.trials ?? 10_000;
  if (trials <= MISSING) {
    throw new RunnerError("usage", "USAGE", `expected --trials to be more than ${MISSING}, got ${trials}`);
  }
  const folder = await mkdtemp(join(tmpdir(), "runner-resume-"));
  try {
    const dir = join(folder, "run");
    const sealed = await unfinishedRun(dir, trials, io);
    say(`${sealed} of ${trials} trials are sealed; resuming`);
    const ledger = join(dir, BUNDLE.ledger);
    const { size } = await stat(ledger);
    const from = performance.now();
    const child = execa(process.execPath, [join(projectRoot, "bin", "runner.js"), "resume", dir, "--json"], {
      env,
      extendEnv: false,
      reject: false,
      cancelSignal: signal,
    });
    const ended = child.then(() => true);
    const firstTrial = await firstStart(ledger, size, ended);
    const firstSeconds = firstTrial === null ? null : (firstTrial - from) / 1000;
    const { exitCode, stderr } = await child;
    if (firstSeconds === null || exitCode === undefined || exitCode > 1) {
      throw new RunnerError("environment", "BENCH_FAILED", `the resume ended with ${exitCode}: ${stderr.slice(-2000)}`);
    }
    const result = {
      trials,
      sealed,
      firstTrialSeconds: firstSeconds,
      resumeSeconds: (performance.now() - from) / 1000,
      processor: cpus()[0]?.model ?? "unknown",
      processors: cpus().length,
      node: process.version,
    };
    if (options.json) io.out(`${JSON.stringify(result)}\n`);
    else {
      io.out(`${trials} trials, ${sealed} sealed; ${result.processors} × ${result.processor}, Node ${result.node}\n`);
      io.out(`first trial started after ${firstSeconds.toFixed(1)} s (bar ${BAR_SECONDS} s)\n`);
      io.out(`resumed, sealed and reported after ${result.resumeSeconds.toFixed(1)} s\n`);
    }
    return firstSeconds < BAR_SECONDS ? 0 : 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

async function unfinishedRun(dir: string, trials: number, io: Parameters<typeof run>[2]): Promise<number> {
  const { projectRoot, env, say, signal, cwd } = io;
  const request = runRequestSchema.parse({
    study: join(projectRoot, DEMO_STUDY),
    tasks: [TASK],
    repetitions: trials,
    replay: null,
    agent: "nop",
    imageMap: [],
    buildNetwork: "default",
    cwd,
  });
  const study = await loadRequestedStudy(request, null);
  await using engine = await ensureEngine({ fix: false, report: say, signal, env });
  await requireDisk(engine);
  await cleanUpDeadRuns(engine, projectRoot, say, signal);
  const context = { engine, projectRoot, env, build: true, report: say, signal };
  const prepared = await makePlan(planRequestOf(request, study, context));
  const concurrency = availableParallelism();
  const session = { engine, study, prepared, request, projectRoot, concurrency, env, report: say, signal };
  return await writeUnfinishedRun(session, dir, MISSING);
}

/** When the ledger says that a trial was started, in its bytes from `offset` on; null when `ended` comes first. */
async function firstStart(path: string, offset: number, ended: Promise<boolean>): Promise<number | null> {
  await using file = await open(path, "r");
  const buffer = Buffer.alloc(256 * 1024);
  for (let over = false; ; ) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, offset);
    if (buffer.subarray(0, bytesRead).includes('"trial-started"')) return performance.now();
    if (over) return null;
    over = await Promise.race([ended, sleep(POLL_MS, false)]);
  }
}
