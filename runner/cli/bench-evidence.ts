import { mkdir, mkdtemp, rm, statfs } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { RunnerError } from "../base/errors.ts";
import { benchEvidence, EVIDENCE_BARS, type EvidenceFigure, megabytes } from "../perf/evidence-bench.ts";
import { writeSyntheticPair } from "../study/synthetic-pair.ts";
import type { Run } from "./command.ts";
import type { OPTIONS } from "./options.ts";

/** Bytes of a trial beside its artifacts: record, trace, what the agent printed. */
const OTHER_BYTES = 45_000;
/** Repetitions of each task. */
const REPETITIONS = 50;

export const run: Run<typeof OPTIONS.benchEvidence> = async (options, _positionals, io) => {
  const { say, signal } = io;
  const trials = options.trials ?? 10_000;
  const total = (options.megabytes ?? 20_000) * 1e6;
  const parent = resolve(io.cwd, options.dir ?? tmpdir());
  await mkdir(parent, { recursive: true });
  await requireSpace(parent, total);
  const folder = await mkdtemp(join(parent, "runner-evidence-"));
  try {
    const repetitions = Math.min(REPETITIONS, trials);
    const size = { tasks: Math.ceil(trials / repetitions), repetitions, seed: 1 };
    const payloadBytes = Math.max(1024, Math.floor(total / (2 * size.tasks * repetitions)) - OTHER_BYTES);
    say(`writing 2 × ${size.tasks * repetitions} synthetic trials, ${megabytes(total)} MB, in ${folder}`);
    const pair = await writeSyntheticPair(join(folder, "pair"), { ...size, payloadBytes, report: say, signal });
    const anchors = [
      ["--control-report-sha256", pair.anchors.control],
      ["--treatment-report-sha256", pair.anchors.treatment],
    ].flat();
    const bench = await benchEvidence({
      dir: pair.dir,
      runner: [process.execPath, join(io.projectRoot, "bin", "runner.js")],
      commands: [
        { name: "verify", args: ["verify", pair.dir, ...anchors] },
        { name: "compare", args: ["compare", pair.dir, ...anchors, "--out", join(folder, "comparison.json")] },
        { name: "report", args: ["report", pair.dir, ...anchors, "--format", "html", "--out", join(folder, "r.html")] },
      ],
      rounds: options.rounds ?? 1,
      env: io.env,
      report: say,
      signal,
    });
    const result = {
      trials: 2 * pair.trials,
      traceShare: pair.traceBytes / bench.bytes,
      processor: cpus()[0]?.model ?? "unknown",
      processors: cpus().length,
      node: process.version,
      ...bench,
    };
    if (options.json) io.out(`${JSON.stringify(result)}\n`);
    else {
      io.out(
        `${result.trials} trials, ${bench.files} files, ${(bench.bytes / 1e9).toFixed(2)} GB, ${(100 * result.traceShare).toFixed(1)} % traces; ${result.processors} × ${result.processor}, Node ${result.node}\n`,
      );
      io.out(`sha256sum  ${bench.yardstick.map((seconds) => `${seconds.toFixed(1)} s`).join(", ")}\n`);
      for (const figure of bench.figures) io.out(line(figure));
      for (const missed of bench.missed) io.out(`MISSED ${missed}\n`);
    }
    return bench.missed.length === 0 ? 0 : 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

function line({ name, seconds, ratio, peakResidentBytes }: EvidenceFigure): string {
  const bar = name === "report" ? "" : ` (bar ${EVIDENCE_BARS.throughput})`;
  const took = seconds.map((value) => `${value.toFixed(1)} s`).join(", ");
  return `${name.padEnd(10)} ${took}; ratio ${ratio.toFixed(2)}${bar}; peak memory ${megabytes(peakResidentBytes)} MB (bar ${megabytes(EVIDENCE_BARS.residentBytes)} MB)\n`;
}

async function requireSpace(dir: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(dir);
  const free = bavail * bsize;
  const wanted = bytes * 1.1 + 1e9;
  if (free >= wanted) return;
  throw new RunnerError(
    "environment",
    "DISK_SPACE",
    `${dir} has ${megabytes(free)} MB free, the benchmark writes ${megabytes(wanted)} MB`,
    { hint: "Name a folder on another disk with --dir, or fewer --megabytes." },
  );
}
