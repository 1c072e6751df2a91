import { type ChildProcess, spawn } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { problems, proofCase, verdict } from "./support/proof-case.ts";
import { type Asked, type Behaviour, scriptedEndpoint } from "./support/scripted-endpoint.ts";

const driver = join(process.cwd(), "node_modules", `.proof-kill-driver-${process.pid}.mjs`);
beforeAll(async () => {
  const entry = join(process.cwd(), "test/unit/proof/support/kill-driver.ts");
  await build({
    entryPoints: [entry],
    outfile: driver,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20.19",
    packages: "external",
    logLevel: "error",
  });
});
afterAll(async () => rm(driver, { force: true }));

function answer({ model, prompt }: Asked): Behaviour {
  const even = prompt.length % 2 === 0;
  return {
    content: model === "policy-model" ? "<step>One.</step><step>Two.</step>" : verdict(even ? -1 : 1),
    delayMs: 3,
  };
}
const timeless = (text: string): string => text.replaceAll(/"micros": ?[0-9]+/g, '"micros":0');
const countsOf = (prompts: readonly string[]): Map<string, number> =>
  prompts.reduce((counts, prompt) => counts.set(prompt, (counts.get(prompt) ?? 0) + 1), new Map<string, number>());

describe("a run that is killed", () => {
  it("again and again repeats no call whose reply was on disk, and ends like one that was never killed", async () => {
    let killAt = Number.POSITIVE_INFINITY;
    let child: ChildProcess | undefined;
    await using endpoint = await scriptedEndpoint((asked) => {
      if (endpoint.asked.length === killAt) child?.kill("SIGKILL");
      return answer(asked);
    });
    const config = Object.fromEntries(
      ["policy", "verifier"].map((role) => [role, { model: `${role}-model`, base_url: endpoint.url }]),
    );
    await using one = await proofCase("prover", problems(5), config);
    const options = {
      data: "data.jsonl",
      config: "config.json",
      output: "out",
      samples: 2,
      verifierRepeats: 3,
      concurrency: 4,
      resamples: 100,
      export: ["json"],
    };
    const start = (more: object): Promise<string> =>
      new Promise((resolve) => {
        child = spawn(
          process.execPath,
          [driver, "prover", JSON.stringify({ ...options, ...more }), one.folder, process.cwd()],
          { stdio: ["ignore", "ignore", "inherit"] },
        );
        child.once("exit", (code, signal) => resolve(signal ?? String(code)));
      });

    let killed = 0;
    const onDisk = new Map<string, number>();
    for (const next of [1, 6, 9, 2, 13]) {
      killAt = endpoint.asked.length + next;
      const before = endpoint.asked.length;
      expect(await start({ resume: before > 0 })).toBe("SIGKILL");
      killed += 1;
      // No call that was on disk before this start was asked for during it.
      const asked = countsOf(endpoint.asked.slice(before).map(({ prompt }) => prompt));
      for (const [prompt, count] of asked) {
        const needed = endpoint.asked.find((entry) => entry.prompt === prompt)?.model === "policy-model" ? 2 : 6;
        expect(count + (onDisk.get(prompt) ?? 0), prompt.slice(-80)).toBeLessThanOrEqual(needed);
      }
      onDisk.clear();
      for (const [prompt, count] of await durable(one.folder)) onDisk.set(prompt, count);
    }
    killAt = Number.POSITIVE_INFINITY;
    const before = endpoint.asked.length;
    expect(await start({ resume: true })).toBe("0");
    expect(killed).toBe(5);
    const last = countsOf(endpoint.asked.slice(before).map(({ prompt }) => prompt));
    const total =
      [...last.values()].reduce((sum, count) => sum + count, 0) +
      [...onDisk.values()].reduce((sum, count) => sum + count, 0);
    // 5 problems x 2 samples, each proof judged 3 times: exactly these, each from disk or asked for now.
    expect(total).toBe(10 + 30);

    await using whole = await proofCase("prover", problems(5), config);
    expect((await whole.run({ samples: 2, verifierRepeats: 3 })).error).toBeNull();
    expect(timeless(await readFile(one.path("out/results.jsonl"), "utf8"))).toBe(
      timeless(await readFile(whole.path("out/results.jsonl"), "utf8")),
    );
    expect(await readFile(one.path("out/summary.json"), "utf8")).toBe(
      await readFile(whole.path("out/summary.json"), "utf8"),
    );
  });
});

/** Prompts of the calls that are on disk, from the log's whole lines; records are sealed from the same calls. */
async function durable(folder: string): Promise<Map<string, number>> {
  const requests = (await readFile(join(folder, "out", "calls.jsonl"), "utf8").catch(() => ""))
    .split("\n")
    .slice(0, -1);
  const names = requests.map((line) => JSON.parse(line).entry.call as string);
  const prompts = await Promise.all(names.map((name) => promptOf(folder, name)));
  return countsOf(prompts);
}

async function promptOf(folder: string, call: string): Promise<string> {
  const { fillPrompt, verifierPrompt } = await import("../../../runner/proof/prompts.ts");
  const index = Number(call.slice(0, 6));
  const rows = (await readFile(join(folder, "data.jsonl"), "utf8"))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const template = (name: string) => readFile(join(process.cwd(), "benchmarks/proof/prompts", `${name}.md`), "utf8");
  if (call.endsWith("/policy")) return fillPrompt(await template("generation"), { problem: rows[index].problem });
  return verifierPrompt(await template("verifier"), rows[index], ["One.", "Two."], true);
}
