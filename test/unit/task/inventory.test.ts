import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { inventory } from "../../../runner/task/inventory.ts";
import { loadDataset } from "../../../runner/task/load-dataset.ts";

const projectRoot = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));

describe("the inventory of a dataset", () => {
  it("counts within each coverage class and never across them", () => {
    const task = (coverage: string, family: string, roles: string[] = []) => ({
      metadata: { coverage_class: coverage, family, affordance: "direct", difficulty: "hard", roles },
    });
    expect(
      inventory([
        task("authored_task", "lattice", ["non-ceiling"]),
        task("upstream_reproduction", "lattice"),
        task("authored_task", "lattice"),
        { metadata: {} },
      ]),
    ).toEqual({
      schemaVersion: "1",
      coverage: [
        {
          coverageClass: "authored_task",
          byFamily: { lattice: 2 },
          byAffordance: { direct: 2 },
          byDifficulty: { hard: 2 },
          byRole: { "non-ceiling": 1 },
        },
        {
          coverageClass: "unknown",
          byFamily: { unknown: 1 },
          byAffordance: { unknown: 1 },
          byDifficulty: { unknown: 1 },
          byRole: {},
        },
        {
          coverageClass: "upstream_reproduction",
          byFamily: { lattice: 1 },
          byAffordance: { direct: 1 },
          byDifficulty: { hard: 1 },
          byRole: {},
        },
      ],
    });
  });

  it("finds every task of the project classified", async () => {
    const { tasks } = await loadDataset(join(projectRoot, "tasks"));
    const { coverage } = inventory(tasks);
    expect(coverage.map(({ coverageClass }) => coverageClass)).toEqual(["authored_task", "upstream_reproduction"]);
    for (const { byFamily, byAffordance, byDifficulty } of coverage) {
      expect([byFamily, byAffordance, byDifficulty].flatMap(Object.keys)).not.toContain("unknown");
    }
  });
});
