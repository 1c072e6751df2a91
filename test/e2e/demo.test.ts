import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { leftovers } from "../support/leftovers.ts";
import { runner } from "../support/runner.ts";

interface Row {
  readonly task: string;
  readonly condition: string;
  readonly outcome: string;
  readonly reward: number | null;
  readonly modelSource: string;
  readonly metrics: { readonly mcp: { readonly valid: number; readonly invalid: number }; readonly use: string };
}
interface Demo {
  readonly scripted: boolean;
  readonly runs: readonly {
    readonly dir: string;
    readonly condition: string;
    readonly report_sha256: string;
    readonly rows: readonly Row[];
  }[];
}

let out: string;
let demo: Demo;
let words: string;

beforeAll(async () => {
  out = join(await mkdtemp(join(tmpdir(), "runner-demo-")), "demo");
  const { exitCode, stdout, stderr } = await runner("demo", "--json", "--out", out);
  words = stderr;
  expect(exitCode, stderr).toBe(0);
  demo = JSON.parse(stdout);
});
afterAll(() => rm(join(out, ".."), { recursive: true, force: true }));

test("the demo scores every trial in both conditions, with the real Jacobian called in the treatment alone", () => {
  const rows = demo.runs.flatMap((run) => run.rows);
  expect(demo.scripted).toBe(true);
  expect(rows.map((row) => [row.outcome, row.modelSource])).toEqual(
    Array.from({ length: 8 }, () => ["scored", "scripted"]),
  );
  const of = (task: string, condition: string): Row => {
    const row = rows.find((candidate) => candidate.task === task && candidate.condition === condition);
    if (row === undefined) throw new Error(`no row for ${task} ${condition}`);
    return row;
  };
  expect(of("parity-sum-01", "control").reward).toBe(1);
  expect(of("parity-sum-01", "treatment")).toMatchObject({ reward: 1, metrics: { use: "unused" } });
  expect(of("smith-normal-form-01", "treatment")).toMatchObject({ reward: 1, metrics: { use: "used" } });
  expect(of("smith-normal-form-01", "treatment").metrics.mcp.invalid).toBeGreaterThan(0);
  for (const row of rows.filter(({ condition }) => condition === "control")) {
    expect(row.metrics.mcp).toMatchObject({ valid: 0, invalid: 0 });
  }
  expect(words).toContain("SCRIPTED");
});

test("both bundles verify against their anchors, and against no other", async () => {
  for (const { dir, report_sha256: anchor } of demo.runs) {
    const verified = await runner("verify", dir, "--report-sha256", anchor, "--json");
    expect(JSON.parse(verified.stdout)).toMatchObject({ valid: true, reasons: [], trials: 4 });
    expect(verified.exitCode).toBe(0);
    const other = await runner("verify", dir, "--report-sha256", `sha256:${"0".repeat(64)}`);
    expect([other.exitCode, other.stdout]).toEqual([1, expect.stringContaining("the anchor says sha256:0000")]);
  }
});

test("nothing of the demo is left in the engine", async () => {
  expect(await leftovers()).toEqual([]);
});
