import { readdir, stat } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { measureProcess, type ProcessCost } from "./process-cost.ts";

/** The bars of the evidence benchmark. */
export const EVIDENCE_BARS = { throughput: 0.7, residentBytes: 500 * 1000 * 1000 } as const;

/** A command of the runner's to measure. */
export interface EvidenceCommand {
  readonly name: string;
  readonly args: readonly string[];
}

export interface EvidenceBenchInput {
  /** The folder whose files are hashed by both sides. */
  readonly dir: string;
  /** How the runner is started, such as Node and the path of its command line. */
  readonly runner: readonly [command: string, ...args: string[]];
  readonly commands: readonly EvidenceCommand[];
  /** Rounds; in each the yardstick and every command run in turn. */
  readonly rounds: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly report: (line: string) => void;
  readonly signal: AbortSignal;
}

export interface EvidenceFigure {
  readonly name: string;
  readonly seconds: readonly number[];
  /** Throughput over the yardstick's, of the medians. */
  readonly ratio: number;
  readonly peakResidentBytes: number;
}

export interface EvidenceBench {
  readonly files: number;
  readonly bytes: number;
  /** Seconds of `sha256sum` over the same files on all processors. */
  readonly yardstick: readonly number[];
  readonly figures: readonly EvidenceFigure[];
  /** Every figure that misses its bar, in a sentence. */
  readonly missed: readonly string[];
}

/**
 * Measures commands that read a pair of bundles beside `sha256sum` over the same files, in turn, so that a drift of the machine and the state
 * of its page cache fall on all of them. The yardstick opens and closes each round.
 * @throws Error when a command does not end with 0.
 */
export async function benchEvidence(input: EvidenceBenchInput): Promise<EvidenceBench> {
  const { dir, runner, commands, rounds, env, report, signal } = input;
  const files = await filesBelow(dir);
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const yardstick: number[] = [];
  const costs = new Map<string, ProcessCost[]>(commands.map(({ name }) => [name, []]));
  const hash = async (): Promise<void> => {
    const cost = await requireGood("sha256sum", await hashWithSha256sum(files, signal));
    yardstick.push(cost.seconds);
    report(`sha256sum: ${cost.seconds.toFixed(1)} s`);
  };
  for (let round = 0; round < rounds; round += 1) {
    await hash();
    for (const { name, args } of commands) {
      const [command, ...before] = runner;
      const cost = await requireGood(name, await measureProcess({ command, args: [...before, ...args], env, signal }));
      costs.get(name)?.push(cost);
      report(`${name}: ${cost.seconds.toFixed(1)} s, at most ${megabytes(cost.peakResidentBytes)} MB resident`);
    }
    await hash();
  }
  const figures = commands.map(({ name }): EvidenceFigure => {
    const own = costs.get(name) ?? [];
    const seconds = own.map((cost) => cost.seconds);
    const peakResidentBytes = Math.max(...own.map((cost) => cost.peakResidentBytes));
    return { name, seconds, ratio: median(yardstick) / median(seconds), peakResidentBytes };
  });
  return { files: files.length, bytes, yardstick, figures, missed: missedBars(figures) };
}

/** The bars that figures miss. A report is held to its memory alone, since it also draws. */
export function missedBars(figures: readonly EvidenceFigure[]): string[] {
  return figures.flatMap(({ name, ratio, peakResidentBytes }) => [
    ...(name !== "report" && ratio < EVIDENCE_BARS.throughput
      ? [`${name}: ${ratio.toFixed(2)} of the throughput of sha256sum, the bar is ${EVIDENCE_BARS.throughput}`]
      : []),
    ...(peakResidentBytes >= EVIDENCE_BARS.residentBytes
      ? [
          `${name}: ${megabytes(peakResidentBytes)} MB resident, the bar is ${megabytes(EVIDENCE_BARS.residentBytes)} MB`,
        ]
      : []),
  ]);
}

export function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}

interface MeasuredFile {
  readonly path: string;
  readonly size: number;
}

async function filesBelow(dir: string): Promise<MeasuredFile[]> {
  const files: MeasuredFile[] = [];
  const open = [dir];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) open.push(path);
      else files.push({ path, size: (await stat(path)).size });
    }
  }
  return files;
}

function hashWithSha256sum(files: readonly MeasuredFile[], signal: AbortSignal): Promise<ProcessCost> {
  const args = ["-0", "-P", String(availableParallelism()), "-n", "256", "sha256sum"];
  const stdin = files.map(({ path }) => `${path}\0`);
  return measureProcess({ command: "xargs", args, stdin, signal });
}

async function requireGood(name: string, cost: ProcessCost): Promise<ProcessCost> {
  if (cost.exitCode === 0) return cost;
  throw new Error(`${name} ended with ${cost.exitCode}: ${cost.lastWords.trim()}`);
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)] ?? 0, sorted[Math.floor(sorted.length / 2)] ?? 0];
  return (low + high) / 2;
}
