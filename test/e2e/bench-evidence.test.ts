import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { missedBars } from "../../runner/perf/evidence-bench.ts";
import { json, runner } from "../support/e2e.ts";

test("verify, compare and report are measured on bundles of their own beside sha256sum, and nothing is left", async () => {
  const dir = await mkdtemp(join(tmpdir(), "bench-evidence-"));
  try {
    // As many trials as make the runner examine them in threads.
    const ran = await runner(["bench", "evidence", "--trials", "150", "--megabytes", "40", "--dir", dir, "--json"]);
    const bench = json<{
      trials: number;
      traceShare: number;
      bytes: number;
      yardstick: number[];
      figures: { name: string; seconds: number[]; ratio: number; peakResidentBytes: number }[];
      missed: string[];
    }>(ran);
    expect(bench.trials).toBe(300);
    expect(bench.bytes).toBeGreaterThan(30e6);
    expect(bench.traceShare).toBeGreaterThan(0);
    expect(bench.yardstick).toHaveLength(2);
    expect(bench.figures.map(({ name }) => name)).toEqual(["verify", "compare", "report"]);
    for (const { peakResidentBytes } of bench.figures) expect(peakResidentBytes).toBeGreaterThan(50e6);
    expect(bench.missed).toEqual(missedBars(bench.figures));
    expect(ran.code).toBe(bench.missed.length === 0 ? 0 : 1);
    expect(await readdir(dir)).toEqual([]);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});
