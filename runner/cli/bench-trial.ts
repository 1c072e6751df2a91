import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { findAgent } from "../agent/registry.ts";
import { systemClock } from "../base/clock.ts";
import { RunnerError } from "../base/errors.ts";
import { isUnknown, type Known } from "../base/unknown.ts";
import { requireDisk } from "../docker/disk.ts";
import { ensureEngine } from "../docker/ensure-engine.ts";
import { createBundle } from "../evidence/bundle.ts";
import type { SeriesSummary } from "../perf/samples.ts";
import { measureSpawns } from "../perf/spawns.ts";
import { benchTrials } from "../perf/trial-bench.ts";
import { makePlan } from "../study/make-plan.ts";
import { cleanUpDeadRuns } from "../study/run-registry.ts";
import { loadStudy } from "../study/study-file.ts";
import { planTrialSpecs } from "../study/trial-specs.ts";
import { newRunId, openWorld } from "../trial/open-world.ts";
import { runTrial } from "../trial/run-trial.ts";
import type { TrialSpec } from "../trial/spec.ts";
import type { Run } from "./command.ts";
import { DEMO_STUDY } from "./demo-study.ts";
import type { OPTIONS } from "./options.ts";

const PRINTED_BYTES = 2 * 1024 ** 3;
/** The task that every figure is measured on: small, separate verifier, no network. */
const TASK = "parity-sum-01";

export const run: Run<typeof OPTIONS.benchTrial> = async (options, _positionals, io) => {
  const { say, signal, env } = io;
  const trials = options.trials ?? 10;
  const study = await loadStudy(join(io.projectRoot, DEMO_STUDY));
  await using engine = await ensureEngine({ fix: false, report: say, signal, env });
  await requireDisk(engine);
  await cleanUpDeadRuns(engine, io.projectRoot, say, signal);
  const images = { projectRoot: io.projectRoot, maps: [], buildNetwork: "default" as const, env };
  const request = {
    engine,
    study,
    tasks: [TASK],
    repetitions: null,
    replay: null,
    images,
    cwd: io.cwd,
    build: true,
    report: say,
    signal,
  };
  const prepared = await makePlan(request);
  const specs = await planTrialSpecs({ engine, study, prepared, env, report: say, signal });
  const treated = specs.find(({ condition }) => condition === "treatment");
  if (treated === undefined || findAgent(study.study.agent.name) === "nop") {
    throw new RunnerError("input", "BENCH_STUDY", "the demo study has no treatment trial to measure");
  }
  const nop: TrialSpec = {
    ...treated,
    agent: { kind: "nop" },
    condition: "none",
    model: null,
    mcp: null,
    budgets: null,
  };
  const folder = await mkdtemp(join(tmpdir(), "runner-bench-"));
  try {
    await using bundle = await createBundle(join(folder, "bundle"));
    await using shared = await openWorld({ engine, runId: newRunId(systemClock), images: prepared.own.ids, signal });
    const world = { ...shared, store: bundle.store };
    const bench = await benchTrials({
      world,
      nop,
      treatment: (number) => ({ ...treated, number }),
      trials,
      report: say,
      signal,
    });
    say("memory while an agent prints 2 GB");
    const printed = await runTrial(
      world,
      { ...nop, number: 1, agent: { kind: "command", command: `head -c ${PRINTED_BYTES} /dev/zero` } },
      null,
      signal,
    );
    const output = printed.steps[0]?.agentOutput?.stdout;
    const memory = { printedBytes: output?.bytes ?? null, peakResidentMb: process.resourceUsage().maxRSS / 1024 };
    say("the start of the command line");
    const help = await measureSpawns(
      spawn,
      process.execPath,
      [join(io.projectRoot, "bin", "runner.js"), "--help"],
      trials,
    );
    const environment = {
      engine: engine.facts.version,
      kernel: engine.facts.kernel,
      storageDriver: engine.facts.storageDriver,
      processor: cpus()[0]?.model ?? "unknown",
      processors: cpus().length,
      node: process.version,
    };
    if (options.json) io.out(`${JSON.stringify({ task: TASK, environment, ...bench, memory, help })}\n`);
    else {
      io.out(
        `task ${TASK}; ${Object.entries(environment)
          .map(([name, value]) => `${name} ${value}`)
          .join(", ")}\n`,
      );
      io.out(line("no network: trial", bench.noNetwork.trial));
      io.out(line("no network: bare", bench.noNetwork.bare));
      io.out(`  ratio ${bench.noNetwork.ratio.toFixed(2)} (bar 1.30)\n`);
      io.out(line("treatment: trial", bench.treatment.trial));
      io.out(line("treatment: bare", bench.treatment.bare));
      io.out(`  ratio ${bench.treatment.ratio.toFixed(2)}\n`);
      const { concurrency, trial, bare, ratio } = bench.throughput;
      io.out(
        `throughput at ${concurrency}: trial ${trial.toFixed(2)}/s, bare ${bare.toFixed(2)}/s, ratio ${ratio.toFixed(2)} (bar 0.80)\n`,
      );
      io.out(
        `memory: peak ${memory.peakResidentMb.toFixed(0)} MB while an agent printed ${memory.printedBytes} bytes (bar 300 MB)\n`,
      );
      io.out(line("runner --help", help));
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return 0;
};

function line(name: string, { coldMillis, warm }: SeriesSummary): string {
  const show = (value: Known<number>): string =>
    isUnknown(value) ? "unknown (too few samples)" : `${value.toFixed(0)} ms`;
  return `${name.padEnd(18)} cold ${coldMillis.toFixed(0)} ms; warm n=${warm.n} median ${warm.medianMillis.toFixed(0)} ms, p95 ${show(warm.p95Millis)}, p99 ${show(warm.p99Millis)}\n`;
}
