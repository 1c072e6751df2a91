import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { benchEvidence, missedBars } from "../../../runner/perf/evidence-bench.ts";
import { measureProcess } from "../../../runner/perf/process-cost.ts";

const signal = new AbortController().signal;

test("a process is measured by its end, its memory and its last words", async () => {
  const program = `
    const held = Buffer.alloc(150e6, 1);
    process.stderr.write("held " + held.length);
    setTimeout(() => process.exit(3), 400);`;
  const cost = await measureProcess({ command: process.execPath, args: ["-e", program], signal });
  expect(cost).toMatchObject({ exitCode: 3, lastWords: "held 150000000" });
  expect(cost.peakResidentBytes).toBeGreaterThan(150e6);
  expect(cost.seconds).toBeGreaterThan(0.4);
});

test("an aborted measurement kills the process and throws the reason", async () => {
  const stop = new AbortController();
  const running = measureProcess({ command: "sleep", args: ["600"], signal: stop.signal });
  stop.abort(new Error("enough"));
  await expect(running).rejects.toThrow("enough");
});

test("commands are measured in turn with sha256sum over the same files, and one that fails is named", async () => {
  const dir = await mkdtemp(join(tmpdir(), "evidence-bench-"));
  try {
    await mkdir(join(dir, "below"));
    await writeFile(join(dir, "a"), "12345");
    await writeFile(join(dir, "below", "b'\n"), "123");
    const said: string[] = [];
    const input = { dir, runner: ["sh", "-c"] as const, rounds: 2, env: process.env, signal };
    const report = (line: string): void => void said.push(line.replace(/: .*/, ""));
    const bench = await benchEvidence({ ...input, commands: [{ name: "look", args: ["sleep 0.1"] }], report });
    expect(bench).toMatchObject({ files: 2, bytes: 8, figures: [{ name: "look" }] });
    expect(bench.yardstick).toHaveLength(4);
    expect(said).toEqual(["sha256sum", "look", "sha256sum", "sha256sum", "look", "sha256sum"]);
    const failing = [{ name: "fail", args: ["echo broken >&2; exit 7"] }];
    await expect(benchEvidence({ ...input, commands: failing, report })).rejects.toThrow("fail ended with 7: broken");
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});

test("a figure that misses a bar is named with both values; a report is held to its memory alone", () => {
  const figure = (name: string, ratio: number, peakResidentBytes: number) => ({
    name,
    seconds: [1],
    ratio,
    peakResidentBytes,
  });
  expect(
    missedBars([figure("verify", 0.7, 499e6), figure("compare", 0.69, 500e6), figure("report", 0.1, 499e6)]),
  ).toEqual([
    "compare: 0.69 of the throughput of sha256sum, the bar is 0.7",
    "compare: 500 MB resident, the bar is 500 MB",
  ]);
});
