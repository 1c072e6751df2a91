import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Digest } from "../../runner/base/digest.ts";
import { tamperSuite } from "../support/bundles-tamper.ts";
import { type Executed, json, oracle, ROOT, runner } from "../support/e2e.ts";

const TASKS = ["parity-sum-01", "smith-normal-form-01"];

test("every listed change of a pair of bundles that real containers left is refused with a reason that names its place", async () => {
  // More than a thousand clones are made: memory spares the disk.
  const dir = await mkdtemp(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "tamper-real-"));
  try {
    const named = TASKS.flatMap((task) => ["--tasks", task]);
    const proven = await oracle(join(ROOT, "tasks"), join(dir, "oracle"), named);
    expect(proven.code, proven.stderr).toBe(0);
    const out = join(dir, "pair");
    const args = ["--condition", "both", ...named, "--out", out, "--execute", "--json"];
    const ran = await runner(["execute", ...args]);
    expect(ran.code, ran.stderr).toBe(0);
    const { runs } = json<Executed>(ran);
    const anchorOf = (condition: string) => runs.find((run) => run.condition === condition)?.report_sha256 as Digest;
    const anchors = { control: anchorOf("control"), treatment: anchorOf("treatment") };
    const pair = [join(out, "control"), join(out, "treatment")] as const;
    const { mutations, groups, survivors } = await tamperSuite(...pair, anchors, join(dir, "scratch"));
    process.stdout.write(
      `tamper suite on a real pair: ${mutations} mutations, ${mutations - survivors.length} refused at their place\n`,
    );
    process.stdout.write(`${JSON.stringify(groups)}\n`);
    expect(survivors).toEqual([]);
    expect(mutations).toBeGreaterThanOrEqual(300);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}, 1_200_000);
