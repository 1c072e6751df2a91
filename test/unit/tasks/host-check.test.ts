import { describe, expect, it } from "vitest";
import { python } from "./python.ts";

const LIMIT = 600_000;

interface Row {
  readonly task: string;
  readonly traps: number;
  readonly faults: readonly string[];
}

describe("the project's own tasks", () => {
  it("give the reference solution 1 in every dimension, nothing 0, and every trap 0 at its named check", {
    timeout: LIMIT,
  }, async () => {
    const run = await python(["host_check.py", "--quick", "--json"]);
    const report = JSON.parse(run.output) as { tasks: Row[]; failed: number };
    expect(report.tasks.flatMap(({ task, faults }) => faults.map((fault) => `${task}: ${fault}`))).toEqual([]);
    expect(report.tasks.length).toBeGreaterThanOrEqual(24);
    expect(report.tasks.every(({ traps }) => traps >= 3)).toBe(true);
    expect(run.code).toBe(0);
  });

  it.each([
    ["read submissions strictly and fail closed on their own damage", "test_contract"],
    ["score 1 in every equivalent encoding and 0 after any single-field change", "test_properties"],
    ["have producers and checkers that are independent and notice each other's faults", "test_independence"],
    ["are what their frozen seeds generate, and fresh seeds generate proved instances", "test_committed"],
    ["survive hostile inputs with a verdict", "test_fuzz"],
  ])("%s", { timeout: LIMIT }, async (_title, module) => {
    const run = await python(["-m", "unittest", module]);
    expect(run.code, run.output).toBe(0);
    expect(run.output).toMatch(/Ran [1-9][0-9]* tests? in/);
  });
});
