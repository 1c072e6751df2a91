import { describe, expect, it } from "vitest";
import { run } from "../../../runner/proof/bench-command.ts";
import { evaluatorSource, projectRoot } from "../../../runner/proof/project.ts";

describe("the bench", () => {
  it("makes every call of a small run, scores stored records, and reports figures with their environment", async () => {
    let out = "";
    const io = {
      out: (text: string) => {
        out += text;
      },
      say: () => undefined,
      env: {},
      cwd: process.cwd(),
      signal: new AbortController().signal,
      interactive: false,
    };
    const options = { problems: 3, samples: 2, repeats: 2, concurrency: 4, latency: 2, json: true };
    expect(await run(options, [], io)).toBe(0);
    const { inference, summary, environment } = JSON.parse(out);
    expect(inference).toMatchObject({
      calls: 18,
      idealSeconds: 0.009,
      bareCalls: 18,
      overheadMicros: { count: 18, p95: { unknown: "unavailable" } },
    });
    expect(inference.cpuSeconds).toBeGreaterThan(0);
    expect(inference.ratio).toBeCloseTo(inference.wallSeconds / inference.idealSeconds, 9);
    expect(summary).toMatchObject({ proofs: 888, judgments: 7104, resamples: 10_000 });
    expect(Object.keys(environment)).toEqual(["node", "cpus", "cpuModel", "memoryBytes", "loadAverage1m"]);
  });
});

describe("the evaluator's source", () => {
  it("is the digest that the build and the launcher use, with its commit", async () => {
    const source = await evaluatorSource(projectRoot());
    expect(projectRoot()).toBe(process.cwd());
    expect(source.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(source.version).toMatch(/^[0-9]+\.[0-9]+\.[0-9]+$/);
  });
});
