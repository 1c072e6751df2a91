import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadSubmissionCheck } from "../../../runner/task/submission.ts";
import { python, root } from "./python.ts";

describe("the public submission schemas", () => {
  it("take every right submission in every notation that the verifiers take", { timeout: 600_000 }, async () => {
    const run = await python(["submissions.py"]);
    const texts = JSON.parse(run.output) as Record<string, string[]>;
    expect(Object.keys(texts).length).toBeGreaterThanOrEqual(24);
    const refused: unknown[] = [];
    for (const [task, submissions] of Object.entries(texts)) {
      const check = await loadSubmissionCheck(join(root, "tasks", task, "environment", "submission_schema.json"));
      for (const [index, submission] of submissions.entries()) {
        const reading = check(Buffer.from(submission));
        // A bare integer beyond 2^53 - 1 is beyond the schema's validator, though not beyond the verifier.
        const open = index > 0 && reading.state === "unknown" && /[0-9]{16}/.test(submission);
        if (reading.state !== "valid" && !open) refused.push({ task, reading, submission: submission.slice(0, 200) });
      }
    }
    expect(refused).toEqual([]);
  });
});
