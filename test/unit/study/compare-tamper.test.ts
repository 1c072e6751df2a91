import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeBundlePair } from "../../support/bundles.ts";
import { tamperSuite } from "../../support/bundles-tamper.ts";

test("every listed change of a pair of bundles is refused with a reason that names its place", async () => {
  // Hundreds of clones are made: memory spares the disk.
  const dir = await mkdtemp(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "tamper-"));
  try {
    const { control, treatment, anchors } = await makeBundlePair(join(dir, "pair"), { tasks: ["task-a", "task-b"] });
    const { mutations, groups, survivors } = await tamperSuite(control, treatment, anchors, join(dir, "scratch"));
    process.stdout.write(
      `tamper suite: ${mutations} mutations, ${mutations - survivors.length} refused at their place\n`,
    );
    process.stdout.write(`${JSON.stringify(groups)}\n`);
    expect(survivors).toEqual([]);
    expect(mutations).toBeGreaterThanOrEqual(300);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}, 600_000);
