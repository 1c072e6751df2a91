import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { digestBytes } from "../../../runner/base/digest.ts";
import { outputFault } from "../../../runner/proof/output-fault.ts";
import { verifyProofBundle } from "../../../runner/proof/verify-bundle.ts";
import { problems, proofCase, proofs, SOURCE, verdict } from "./support/proof-case.ts";
import { type Asked, type Behaviour, scriptedEndpoint } from "./support/scripted-endpoint.ts";

const configOf = (url: string) =>
  Object.fromEntries(["policy", "verifier", "meta"].map((role) => [role, { model: `${role}-model`, base_url: url }]));
/** A stable number for a text, so that answers do not depend on the order of the questions. */
const number = (text: string): number => [...text].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) % 9973, 7);

/** Answers by what is asked alone: proofs of one or two steps, one that cannot be read, and judges that differ. */
function answer({ model, prompt }: Asked): Behaviour {
  const seed = number(prompt);
  if (model === "policy-model")
    return { content: seed % 5 === 0 ? "no steps" : `<step>First ${seed}.</step><step>Second.</step>` };
  if (model === "verifier-model") return { content: seed % 7 === 0 ? "unreadable" : verdict(seed % 3 === 0 ? 0 : -1) };
  return {
    content:
      seed % 11 === 0 ? "<level>?</level>" : `<level>${["EXACT_MATCH", "BASIC_MATCH", "POOR_MATCH"][seed % 3]}</level>`,
  };
}
const slowAnswer = (asked: Asked): Behaviour =>
  ({ ...answer(asked), delayMs: Math.floor(Math.random() * 8) }) as Behaviour;

/** Everything of a file but what depends on time and on the folder. */
const timeless = (text: string): string => text.replaceAll(/"micros": ?[0-9]+/g, '"micros":0');

describe("a run", () => {
  it.each(["prover", "verifier"] as const)(
    "of %s gives the same records, results and scores whatever the concurrency and order of completion",
    async (task) => {
      const rows = task === "prover" ? problems(8) : proofs(8);
      const outputs: string[][] = [];
      for (const concurrency of [1, 3, 40]) {
        await using endpoint = await scriptedEndpoint(concurrency === 1 ? answer : slowAnswer);
        await using one = await proofCase(task, rows, configOf("http://127.0.0.1:9/v1"));
        // The address is part of the config, and so of the run's identity; a recording takes it out of the comparison.
        await writeFile(one.path("config.json"), JSON.stringify(configOf(endpoint.url)));
        const options = {
          concurrency,
          verifierRepeats: 3,
          meta: task === "verifier",
          ...(task === "prover" && { samples: 2 }),
        };
        expect((await one.run(options)).error).toBeNull();
        const { run_id: runId } = await one.json<{ run_id: string }>("manifest.json");
        const names = [
          "results.jsonl",
          "summary.json",
          "records/000000_000.json",
          "records/000007_000.json",
          "exports/scores.json",
        ];
        outputs.push(
          await Promise.all(
            names.map(async (name) =>
              timeless(await readFile(one.path(join("out", name)), "utf8")).replaceAll(runId, "RUN"),
            ),
          ),
        );
      }
      expect(outputs[1]).toEqual(outputs[0]);
      expect(outputs[2]).toEqual(outputs[0]);
    },
  );

  it("writes the files of the public evaluator with their field names", async () => {
    await using endpoint = await scriptedEndpoint(answer);
    await using one = await proofCase("prover", problems(2), configOf(endpoint.url));
    await one.run({ samples: 2, verifierRepeats: 2, export: ["json", "jsonl", "csv", "xlsx", "markdown", "html"] });
    const names = [...(await one.files()).keys()].filter((name) => !name.startsWith("objects/")).sort();
    expect(names).toEqual([
      "call_budget.json",
      ...["proofs.csv", "report.html", "report.md", "results.xlsx", "scores.csv", "scores.json", "scores.jsonl"].map(
        (name) => `exports/${name}`,
      ),
      "ledger.jsonl",
      "manifest.json",
      ...["000000_000", "000000_001", "000001_000", "000001_001"].map((key) => `records/${key}.json`),
      "report.json",
      "results.jsonl",
      "summary.json",
    ]);
    expect(Object.keys(await one.json<object>("manifest.json"))).toEqual([
      "evaluator",
      "evaluator_version",
      "protocol",
      "task",
      "data_sha256",
      "source_rows",
      "selected_rows",
      "config",
      "settings",
      "analysis",
      "prompt_sha256",
      "code_sha256",
      "model_source",
      "cassette_sha256",
      "output_policy",
      "run_id",
    ]);
    expect(await one.json("call_budget.json")).toMatchObject({
      selected_rows: 2,
      policy_calls: 4,
      verifier_calls_max: 8,
      meta_calls_max: 0,
    });
    expect(Object.keys(await one.json<object>("summary.json"))).toEqual([
      "task",
      "complete",
      "score_scale",
      "invalid_output_policy",
      "splits",
      "run_id",
    ]);
    const record = await one.record("000000_000");
    expect(Object.keys(record).sort()).toEqual(
      [
        "domain",
        "generation_error",
        "inputs",
        "pessimistic_correct",
        "policy",
        "policy_response",
        "problem",
        "problem_id",
        "record_key",
        "run_id",
        "sample_index",
        "steps",
        "subject",
        "verifier",
        "verifier_trials",
      ].sort(),
    );
    const lines = (await readFile(one.path("out/results.jsonl"), "utf8"))
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).record_key);
    expect(lines).toEqual(["000000_000", "000000_001", "000001_000", "000001_001"]);
  });

  it("does not judge a failed generation, and does not grade an invalid judgment", async () => {
    await using endpoint = await scriptedEndpoint(({ model }) => ({
      content: model === "policy-model" ? "no steps" : "unreadable",
    }));
    await using prover = await proofCase("prover", problems(2), configOf(endpoint.url));
    await prover.run({ verifierRepeats: 3 });
    expect(endpoint.asked.map(({ model }) => model)).toEqual(["policy-model", "policy-model"]);
    expect(await prover.json("summary.json")).toMatchObject({
      splits: { all: { metrics: { pessimistic: 0, generation_failure_rate: 1, verifier_valid_rate: 0 } } },
    });
    await using verifier = await proofCase("verifier", proofs(2), configOf(endpoint.url));
    await verifier.run({ meta: true });
    expect(endpoint.asked.slice(2).map(({ model }) => model)).toEqual(["verifier-model", "verifier-model"]);
    expect(await verifier.json("summary.json")).toMatchObject({
      splits: { all: { metrics: { meta_ver_tpr: 0, meta_ver_tnr: 0, meta_valid_rate: 0 } } },
    });
  });

  it("shows the annotation and the judgment to the meta model alone", async () => {
    await using endpoint = await scriptedEndpoint(({ model }) => ({
      content: model === "meta-model" ? "<level>EXACT_MATCH</level>" : verdict(-1, "MY ASSESSMENT"),
    }));
    await using one = await proofCase("verifier", proofs(1), configOf(endpoint.url));
    await one.run({ meta: true });
    const prompts = Object.fromEntries(endpoint.asked.map(({ model, prompt }) => [model, prompt]));
    expect(prompts["verifier-model"]).not.toMatch(/SECRET COMMENT|REFERENCE/);
    expect(prompts["meta-model"]).toContain("SECRET COMMENT 0");
    expect(prompts["meta-model"]).toContain("MY ASSESSMENT");
  });

  it("survives a lone surrogate in a reply and keeps it escaped", async () => {
    await using endpoint = await scriptedEndpoint(({ model }) =>
      model === "meta-model"
        ? { content: "<level>EXACT_MATCH</level>" }
        : {
            raw: `{"choices":[{"message":{"content":"<assessment>\\ud835 é</assessment><errors></errors><first_error_step>-1</first_error_step>"},"finish_reason":"stop"}]}`,
          },
    );
    await using one = await proofCase("verifier", proofs(1), configOf(endpoint.url));
    expect((await one.run({ meta: true, export: ["json", "csv", "xlsx", "markdown", "html"] })).error).toBeNull();
    expect(await readFile(one.path("out/records/000000_000.json"), "utf8")).toContain('"assessment": "\\ud835 é"');
  });
});

describe("a dry run and bad inputs", () => {
  it("print the budget, call nothing and write nothing", async () => {
    await using endpoint = await scriptedEndpoint(answer);
    await using one = await proofCase("verifier", proofs(5), configOf(endpoint.url));
    const { code, out } = await one.run({ dryRun: true, meta: true, verifierRepeats: 3, domain: "ugd" });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      dry_run: true,
      task: "verifier",
      budget: { selected_rows: 3, policy_calls: 0, verifier_calls_max: 9, meta_calls_max: 9 },
      settings: {
        samples: 1,
        verifier_repeats: 3,
        meta: true,
        domain: "ugd",
        limit: null,
        use_reference_solution: false,
      },
    });
    expect(endpoint.asked).toEqual([]);
    expect(await one.files()).toEqual(new Map());
  });

  it("give one error and leave no folder behind", async () => {
    await using one = await proofCase("prover", problems(2), configOf("http://127.0.0.1:9/v1"));
    const cases: [object, string][] = [
      [{ data: "absent.jsonl" }, "DATA_MISSING"],
      [{ config: "absent.json" }, "CONFIG_MISSING"],
      [{ verifierPrompt: "absent.md" }, "PROMPT_MISSING"],
      [{ replay: "absent.jsonl" }, "CASSETTE_MISSING"],
      [{ replay: "data.jsonl", record: "x.jsonl" }, "USAGE"],
      [{ demo: true }, "USAGE"],
      [{ useReferenceSolution: true, noUseReferenceSolution: true }, "USAGE"],
      [{ data: undefined }, "USAGE"],
      [{ resume: true, output: undefined }, "USAGE"],
      [{ metaPrompt: "p.md" }, "USAGE"],
      [{ resume: true, output: "mistyped" }, "NOTHING_TO_RESUME"],
    ];
    for (const [options, code] of cases)
      expect((await one.run(options)).error?.code, JSON.stringify(options)).toBe(code);
    await writeFile(
      one.path("config.json"),
      JSON.stringify({
        ...configOf("http://127.0.0.1:9/v1"),
        verifier: { model: "m", base_url: "http://127.0.0.1:9/v1", api_key_env: "ABSENT_KEY" },
      }),
    );
    expect((await one.run()).error?.message).toBe("the environment variable ABSENT_KEY is not set");
    await writeFile(one.path("data.jsonl"), '{"problem":"x","domain":"zz"}\n');
    expect((await one.run()).error?.message).toBe(
      `${one.path("data.jsonl")}, line 1: domain: expected "ugd" or "qe", got "zz"`,
    );
    expect(await one.files()).toEqual(new Map());
  });
});

describe("an output folder that cannot be written", () => {
  it("is the user's to mend, and no fault of the runner", async () => {
    await using one = await proofCase("verifier", proofs(1), configOf("http://127.0.0.1:9/v1"));
    const output = "x".repeat(300);
    const { error } = await one.run({ output });
    expect(error?.code).toBe("OUTPUT_UNWRITABLE");
    expect(error?.message).toMatch(new RegExp(`^${one.path(output)} cannot be written: ENAMETOOLONG: `));
    const full = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
    expect(outputFault(full, "out")).toMatchObject({
      kind: "environment",
      message: "out cannot be written: ENOSPC: no space left on device, write",
    });
    const other = new TypeError("x is not a function");
    expect(outputFault(other, "out")).toBe(other);
  });
});

describe("a key in what a run would keep", () => {
  const KEY = "sk-live-0123456789";
  const env = { THE_KEY: KEY };

  it.each(["data", "config", "prompt"] as const)(
    "is refused in the %s before anything is written or asked",
    async (place) => {
      await using endpoint = await scriptedEndpoint(answer);
      const { verifier } = configOf(endpoint.url);
      const generation = place === "config" ? { user: `u-${KEY}` } : {};
      const config = { verifier: { ...verifier, api_key_env: "THE_KEY", generation } };
      const rows = proofs(2).map((row) => ({ ...row, remark: place === "data" ? KEY : "" }));
      await using one = await proofCase("verifier", rows, config);
      await writeFile(one.path("p.md"), `{problem}{solution}${place === "prompt" ? KEY : ""}`);
      const { error } = await one.run({ verifierPrompt: "p.md" }, { env });
      const named = { data: "data.jsonl", config: "config.json", prompt: "p.md" }[place];
      expect(error?.code).toBe("SECRET_IN_INPUT");
      expect(error?.message).toBe(`${one.path(named)} contains the value of an API key of this run`);
      expect(endpoint.asked).toEqual([]);
      expect(await one.files()).toEqual(new Map());
    },
  );
});

describe("resuming", () => {
  it("after an interruption makes exactly the missing calls, with the results of a run that was never interrupted", async () => {
    let asked = 0;
    const controller = new AbortController();
    await using endpoint = await scriptedEndpoint((one) => {
      asked += 1;
      if (asked === 17) controller.abort();
      return answer(one);
    });
    const config = configOf(endpoint.url);
    await using one = await proofCase("prover", problems(6), config);
    const options = { samples: 2, verifierRepeats: 3, concurrency: 4 };
    const stopped = await one.run(options, { signal: controller.signal });
    expect(stopped.error?.code).toBe("INTERRUPTED");
    expect(await one.json("summary.json")).toMatchObject({
      complete: false,
      splits: { all: { complete: false, metrics: null, analysis: null } },
    });
    const before = endpoint.asked.length;
    const files = await one.files();
    expect(files.has("report.json")).toBe(false);
    expect(files.has(".running.lock")).toBe(false);

    const resumed = await one.run({ ...options, resume: true });
    expect(resumed.error).toBeNull();
    const { callsMade, callsFound } = JSON.parse(resumed.out);
    expect(callsFound).toBe(before);
    expect(endpoint.asked).toHaveLength(before + callsMade);

    await using whole = await proofCase("prover", problems(6), config);
    await whole.run(options);
    expect(timeless(await readFile(one.path("out/results.jsonl"), "utf8"))).toBe(
      timeless(await readFile(whole.path("out/results.jsonl"), "utf8")),
    );
    expect(await readFile(one.path("out/summary.json"), "utf8")).toBe(
      await readFile(whole.path("out/summary.json"), "utf8"),
    );
    expect(JSON.parse(resumed.out).calls).toEqual(
      JSON.parse((await whole.run({ ...options, resume: true })).out).calls,
    );
  });

  /** An interrupted run of four proofs with some records sealed, and its records' names. */
  const broken = async (one: Awaited<ReturnType<typeof proofCase>>, controller: AbortController) => {
    expect((await one.run(options, { signal: controller.signal })).error?.code).toBe("INTERRUPTED");
    const names = [...(await one.files()).keys()].filter((name) => name.startsWith("records/")).sort();
    expect(names.length).toBeGreaterThanOrEqual(3);
    return names.map((name) => one.path(`out/${name}`));
  };
  const options = { verifierRepeats: 2, concurrency: 1 };
  const stopAt = (count: number) => {
    const controller = new AbortController();
    let asked = 0;
    const behave = (one: Asked): Behaviour => {
      asked += 1;
      if (asked === count) controller.abort();
      return answer(one);
    };
    return { controller, behave };
  };

  it("after a power cut makes the records and raw replies that it took again from the call log, without a call", async () => {
    const { controller, behave } = stopAt(9);
    await using endpoint = await scriptedEndpoint(behave);
    await using one = await proofCase("verifier", proofs(6), configOf(endpoint.url));
    const [first = "", second = "", third = ""] = await broken(one, controller);
    const object = async (path: string): Promise<string> => {
      const { digest } = JSON.parse(await readFile(path, "utf8")).verifier_trials[0].response.raw;
      return one.path(`out/objects/sha256/${digest.slice(7, 9)}/${digest.slice(9)}`);
    };
    await writeFile(await object(second), "");
    await rm(await object(third));
    await writeFile(first, "");
    // What a killed process leaves of files that it was writing.
    await writeFile(one.path("out/.0d9c2a6e-5a4f-4b7e-9c1d-3f2e1a0b4c5d.tmp"), "{");
    await writeFile(one.path("out/records/.0d9c2a6e-5a4f-4b7e-9c1d-3f2e1a0b4c5d.tmp"), "{");
    const before = endpoint.asked.length;
    const resumed = await one.run({ ...options, resume: true });
    expect(resumed.error).toBeNull();
    expect(endpoint.asked).toHaveLength(12);
    expect(JSON.parse(resumed.out)).toMatchObject({ callsMade: 12 - before, callsFound: before });
    const { reportSha256 } = JSON.parse(resumed.out);
    expect((await verifyProofBundle(one.path("out"), reportSha256)).problems).toEqual([]);
    await using whole = await proofCase("verifier", proofs(6), configOf(endpoint.url));
    await whole.run(options);
    expect(timeless(await readFile(one.path("out/results.jsonl"), "utf8"))).toBe(
      timeless(await readFile(whole.path("out/results.jsonl"), "utf8")),
    );
  });

  it("refuses a record that lost something which the call log does not hold either", async () => {
    const { controller, behave } = stopAt(9);
    await using endpoint = await scriptedEndpoint(behave);
    await using one = await proofCase("verifier", proofs(6), configOf(endpoint.url));
    const [first = ""] = await broken(one, controller);
    await writeFile(first, "");
    await rm(one.path("out/calls.jsonl"));
    const { error } = await one.run({ ...options, resume: true });
    expect(`${error?.code}: ${error?.message}`).toBe(`RECORD_DAMAGED: ${first} is cut off or changed`);
    expect(endpoint.asked).toHaveLength(9);
  });

  it("of a complete run makes no call and keeps invalid replies as they are", async () => {
    await using endpoint = await scriptedEndpoint(() => ({ content: "unreadable" }));
    await using one = await proofCase("verifier", proofs(3), configOf(endpoint.url));
    await one.run();
    const files = await one.files();
    const again = await one.run({ resume: true });
    expect(JSON.parse(again.out)).toMatchObject({
      callsMade: 0,
      callsFound: 3,
      reportSha256: digestBytes(files.get("report.json") ?? ""),
    });
    expect(endpoint.asked).toHaveLength(3);
    // The anchor that the operator keeps still fits.
    expect(await one.files()).toEqual(files);
  });

  it("can be asked for after any end of a run without --output, because its folder is named before the first call", async () => {
    await using endpoint = await scriptedEndpoint(() => ({ status: 401 }));
    await using one = await proofCase("verifier", proofs(2), configOf(endpoint.url));
    const { said, error } = await one.run({ output: undefined });
    expect(error?.code).toBe("ENDPOINT_REFUSES");
    const output = /^Output: (.+); to go on after an interruption, give it with --output and --resume\.$/m.exec(
      said,
    )?.[1];
    expect(output?.startsWith(one.path("runs/verifier-"))).toBe(true);
    expect((await one.run({ output, resume: true })).error?.code).toBe("ENDPOINT_REFUSES");
  });

  it("of a complete run refuses files that are not the sealed ones, and shows no score of them", async () => {
    await using endpoint = await scriptedEndpoint(answer);
    await using one = await proofCase("verifier", proofs(2), configOf(endpoint.url));
    await one.run();
    const name = "records/000000_000.json";
    const path = one.path(`out/${name}`);
    await writeFile(path, (await readFile(path, "utf8")).replace('"sample_index": 0', '"sample_index": 1'));
    const { error, out } = await one.run({ resume: true });
    expect(error?.code).toBe("SEALED_CHANGED");
    expect(error?.message).toContain(name);
    expect(out).toBe("");
  });

  it("of a complete run keeps its exports and says which were not made", async () => {
    await using endpoint = await scriptedEndpoint(answer);
    await using one = await proofCase("verifier", proofs(2), configOf(endpoint.url));
    await one.run({ export: ["json"] });
    const { said } = await one.run({ resume: true, export: ["json", "html"] });
    expect(said).toContain("The run is sealed, so its exports stay as they are: html is not among them.");
    expect(said).toContain("/exports (json)\n");
  });

  it("is refused when anything that matters has changed, and names it", async () => {
    await using endpoint = await scriptedEndpoint(answer);
    await using one = await proofCase("prover", problems(4), configOf(endpoint.url));
    const options = { verifierRepeats: 2, limit: 2 };
    await one.run(options);
    const refusal = async (change: object, more: object = {}) => {
      const { error } = await one.run({ ...options, resume: true, ...change }, more);
      return { code: error?.code, changes: error?.details?.changes };
    };
    const changed = (...changes: string[]) => ({ code: "RESUME_CHANGED", changes });
    expect(await refusal({ verifierRepeats: 3 })).toEqual(changed("settings.verifier_repeats"));
    expect(await refusal({ limit: 1 })).toEqual(changed("selected_rows", "settings.limit"));
    expect(await refusal({ domain: "ugd" })).toEqual(changed("settings.domain"));
    expect(await refusal({ noUseReferenceSolution: true })).toEqual(changed("settings.use_reference_solution"));
    expect(await refusal({ seed: 5 })).toEqual(changed("analysis.seed"));
    await writeFile(one.path("p.md"), "{problem}{solution}");
    expect(await refusal({ verifierPrompt: "p.md" })).toEqual(changed("prompt_sha256.verifier"));
    expect(await refusal({}, { source: { ...SOURCE, digest: `sha256:${"1".repeat(64)}` } })).toEqual(
      changed("code_sha256"),
    );
    const config = configOf(endpoint.url);
    await writeFile(
      one.path("config.json"),
      JSON.stringify({ ...config, policy: { ...config.policy, generation: { temperature: 0 } } }),
    );
    expect(await refusal({})).toEqual(changed("config.policy.generation.temperature"));
    await writeFile(one.path("config.json"), JSON.stringify(config));
    await writeFile(
      one.path("data.jsonl"),
      problems(5)
        .map((row) => `${JSON.stringify(row)}\n`)
        .join(""),
    );
    expect(await refusal({})).toEqual(changed("data_sha256", "source_rows"));
    await writeFile(
      one.path("data.jsonl"),
      problems(4)
        .map((row) => `${JSON.stringify(row)}\n`)
        .join(""),
    );
    expect((await one.run({ ...options, resume: true, concurrency: 3 })).error).toBeNull();
  });

  it("is needed for a folder that holds a run, and a folder with other files is left alone", async () => {
    await using endpoint = await scriptedEndpoint(answer);
    await using one = await proofCase("verifier", proofs(1), configOf(endpoint.url));
    await one.run();
    expect((await one.run()).error?.code).toBe("OUTPUT_EXISTS");
    await writeFile(one.path("out/records/000009_000.json"), "{}");
    expect((await one.run({ resume: true })).error?.code).toBe("RECORDS_FOREIGN");
    await rm(one.path("out/records/000009_000.json"));
    await writeFile(one.path("out/records/000000_000.json"), '{"run_id":"x"}');
    expect((await one.run({ resume: true })).error?.code).toBe("SEALED_CHANGED");
    await rm(one.path("out/report.json"));
    expect((await one.run({ resume: true })).error?.code).toBe("RECORD_FOREIGN");
    expect((await one.run({ output: "." })).error?.code).toBe("OUTPUT_NOT_EMPTY");
  });

  it("where there is no run is refused, calls nothing and makes no folder", async () => {
    await using endpoint = await scriptedEndpoint(answer);
    await using one = await proofCase("verifier", proofs(1), configOf(endpoint.url));
    for (const output of ["mistyped", "empty"]) {
      if (output === "empty") await mkdir(one.path(output));
      const { error } = await one.run({ output, resume: true });
      expect(`${error?.code}: ${error?.message}`).toBe(
        `NOTHING_TO_RESUME: ${one.path(output)} holds no run: there is no manifest.json in it`,
      );
    }
    expect((await readdir(one.folder)).sort()).toEqual(["config.json", "data.jsonl", "empty"]);
    expect(await readdir(one.path("empty"))).toEqual([]);
    expect(endpoint.asked).toEqual([]);
  });
});

describe("recording and replaying", () => {
  it("gives the same results without an endpoint, at no cost, and says so", async () => {
    await using endpoint = await scriptedEndpoint(slowAnswer);
    await using one = await proofCase("verifier", proofs(6), configOf(endpoint.url));
    const options = { meta: true, verifierRepeats: 3 };
    await one.run({ ...options, record: "cassette.jsonl" });
    const calls = endpoint.asked.length;
    const replayed = await one.run({ ...options, replay: "cassette.jsonl", output: "again" });
    expect(endpoint.asked).toHaveLength(calls);
    const result = JSON.parse(replayed.out);
    expect(result).toMatchObject({
      modelSource: "replayed",
      callsMade: calls,
      calls: { verifier: { cost_micro_usd: 0 } },
    });
    const metrics = (summary: { splits: Record<string, { metrics: unknown }> }) =>
      Object.values(summary.splits).map((split) => split.metrics);
    expect(metrics(result.summary)).toEqual(
      metrics(await one.json<{ splits: Record<string, { metrics: unknown }> }>("summary.json")),
    );
    expect((await one.run({ ...options, resume: true, record: "later.jsonl" })).error).toBeNull();
    expect(await readFile(one.path("later.jsonl"), "utf8")).toBe(await readFile(one.path("cassette.jsonl"), "utf8"));
    const limited = await one.run({ ...options, replay: "cassette.jsonl", output: "part", domain: "qe", limit: 2 });
    expect(limited.error).toBeNull();
  });

  it("refuses a call that was not recorded, or not with this request, and scores nothing", async () => {
    await using endpoint = await scriptedEndpoint(answer);
    await using one = await proofCase("verifier", proofs(2), configOf(endpoint.url));
    await one.run({ record: "cassette.jsonl" });
    const more = await one.run({ replay: "cassette.jsonl", output: "more", verifierRepeats: 2 });
    expect(more.error?.code).toBe("CASSETTE_MISS");
    expect(more.error?.message).toContain("it has no entry for this scope");
    await writeFile(one.path("p.md"), "{problem}{solution}");
    const other = await one.run({ replay: "cassette.jsonl", output: "other", verifierPrompt: "p.md" });
    expect(other.error?.message).toContain("answers another request");
    expect((await one.run({ record: "cassette.jsonl", output: "third" })).error?.code).toBe("CASSETTE_EXISTS");
  });

  it("refuses a broken cassette by line", async () => {
    await using one = await proofCase("verifier", proofs(1), configOf("http://127.0.0.1:9/v1"));
    const header = '{"cassette":"jacobian-runner-proof/1","source":"scripted"}\n';
    const entry =
      '{"scope":{"item":"v0","sample":0,"role":"verifier","repeat":0},"request":null,"outcome":{"error":"HTTP_500","body":null,"attempts":1,"micros":0,"redacted":false}}\n';
    const of = async (text: string) => {
      await writeFile(one.path("c.jsonl"), text);
      return (await one.run({ replay: "c.jsonl" })).error?.message.replace(one.folder, "");
    };
    expect(await of("")).toBe("/c.jsonl: the header line is missing");
    expect(await of(header + entry + entry)).toBe(
      '/c.jsonl, line 3: line 2 has an entry for the same scope ["v0",0,"verifier",0]',
    );
    expect(await of(header + entry.trimEnd())).toBe(
      "/c.jsonl, line 2: the last line has no line end: the recording broke off",
    );
    expect(await of(header.replace("scripted", "x"))).toContain("/c.jsonl, line 1: source: ");
    expect(await of(header + entry)).toBeUndefined();
  });
});
