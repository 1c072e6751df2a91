import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { canonicalBytes } from "../../../runner/base/canonical-json.ts";
import { digestJson } from "../../../runner/base/digest.ts";
import { isUnknown } from "../../../runner/base/unknown.ts";
import { run } from "../../../runner/cli/compare.ts";
import { compareBundles, comparisonBytes } from "../../../runner/study/compare.ts";
import { pairReasons } from "../../../runner/study/compare-bindings.ts";
import { SERVER_METRICS } from "../../../runner/study/compare-metrics.ts";
import type { Comparison, ValidComparison } from "../../../runner/study/comparison.ts";
import type { TrialRow } from "../../../runner/study/trial-row.ts";
import { inspectBundle } from "../../../runner/study/verify-bundle.ts";
import { type BundlePair, makeBundlePair } from "../../support/bundles.ts";
import { cloneBundle, forge } from "../../support/bundles-forge.ts";

let dir: string;
let pair: BundlePair;
const signal = new AbortController().signal;
const TASKS = ["a", "b", "c", "d", "e", "f", "g", "h"].map((letter) => `task-${letter}`);

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "compare-"));
  pair = await makeBundlePair(join(dir, "pair"), {
    tasks: TASKS,
    script: ({ task, condition }) => ({
      reward: condition === "treatment" ? 1 : task === "task-h" ? 1 : 0,
      callsServer: task !== "task-g",
    }),
  });
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const compare = ({ control, treatment, anchors }: BundlePair): Promise<Comparison> =>
  compareBundles({ folders: [control, treatment], anchors }, signal);

async function valid(of: BundlePair): Promise<ValidComparison> {
  const comparison = await compare(of);
  if (!comparison.valid) throw new Error(comparison.reasons.join("\n"));
  return comparison;
}

async function refusal(of: BundlePair): Promise<readonly string[]> {
  const comparison = await compare(of);
  expect([comparison.valid, comparison.verdict, comparison.causalClaimAuthorized]).toEqual([false, "invalid", false]);
  return comparison.reasons;
}

test("seven tasks won and one tied is a verdict, with interval, test, table and everything else derived", async () => {
  const comparison = await valid(pair);
  expect(comparison.verdict).toBe("better");
  const { analysis } = comparison.primary;
  expect([analysis.control, analysis.treatment, analysis.difference]).toEqual([0.125, 1, 0.875]);
  expect(analysis.test).toMatchObject({ p: 2 ** -6, method: "exact" });
  expect(analysis.outcomes.won).toEqual(TASKS.slice(0, 7));
  expect(analysis.outcomes.tied).toEqual(["task-h"]);
  expect(comparison.treatment.tally).toMatchObject({
    planned: 8,
    scored: 8,
    solved: 8,
    unsolved: 0,
    taskOrVerifier: 0,
  });
  expect(comparison.server.use).toEqual({
    used: 7,
    attempted: 0,
    available_unused: 1,
    unknown: 0,
    fallback: { none: 8, instead: 0, beside: 0, unknown: 0 },
  });
  const tokens = comparison.secondary.metrics.find(({ name }) => name === "tokens.input");
  expect([tokens?.control, tokens?.treatment, tokens?.difference]).toEqual([500, 850, 350]);
  const served = Object.fromEntries(comparison.server.metrics.map(({ name, total, known }) => [name, [total, known]]));
  expect(served).toMatchObject({
    "server.calls": [21, 8],
    "server.valid": [14, 8],
    "server.invalid": [7, 8],
    "server.irrelevantCalls": [7, 8],
  });
  expect(comparison.pairs.map(({ task }) => task).sort()).toEqual(TASKS);
  expect(comparison.pairs.every(({ dropped }) => dropped === null)).toBe(true);
});

test("the words stay within the evidence class and say where the model's words came from", async () => {
  const { interpretation, causalClaimAuthorized } = await valid(pair);
  expect(causalClaimAuthorized).toBe(false);
  expect(interpretation.slice(0, 3)).toEqual([
    "SCRIPTED: a hand-written conversation stood in for the model. These figures show that the runner works; they are no model's achievement.",
    "Observation on public tasks: it says what was seen in these runs of these tasks. A model may have met public tasks before, so nothing is said about other tasks, and no causal claim is authorised.",
    "In these runs, trials with jacobian available scored higher than trials without it.",
  ]);
  expect(interpretation.join(" ")).not.toMatch(
    /\b(caus(e|es|ed)|because of|thanks to|help(s|ed)?|improve[sd]?|due to)\b/i,
  );
  expect(interpretation.at(-1)).toMatch(/^available_unused: in 1 scored treatment trial/);
});

test("held-out tasks say more than what was seen only where trials were repeated, as planned, and the control had room", async () => {
  const heldOut = async (name: string, repetitions: number, control: number, subset: boolean) => {
    const made = await makeBundlePair(join(dir, name), {
      tasks: TASKS.slice(0, 1),
      repetitions,
      plan: (plan) => ({ ...plan, evidenceClass: "held-out-comparison", subset }),
      script: ({ condition }) => ({ reward: condition === "treatment" ? 1 : control }),
    });
    return (await valid(made)).interpretation[1];
  };
  expect(await heldOut("held-out-whole", 2, 0, false)).toMatch(/^Comparison on held-out tasks under a frozen plan/);
  expect(await heldOut("held-out-limited", 1, 1, true)).toBe(
    "Observation on held-out tasks: the study was not run as it was planned, and no trial was repeated, and the control left next to no room, so it says what was seen in these runs of these tasks and nothing about other tasks. The plan authorises no causal claim.",
  );
});

test("a side that several models answered is refused, also when the other side had the same, and so are two releases of an agent", async () => {
  const run = async (side: "control" | "treatment") => {
    const found = await inspectBundle(pair[side], pair.anchors[side], signal);
    if (found.run === null) throw new Error(found.verification.reasons.join("\n"));
    const rows = found.run.rows.map((row, index) => {
      const { metrics, transcript } = row;
      if (metrics === null || isUnknown(metrics) || transcript === null || isUnknown(transcript) || index > 0)
        return row;
      const model = { ...metrics.model, observedModels: ["model-2"] };
      return { ...row, metrics: { ...metrics, model }, transcript: { ...transcript, version: `${index}.${side}` } };
    });
    return { ...found.run, rows };
  };
  expect(pairReasons(await run("control"), await run("treatment"))).toEqual([
    "model: control was answered by several: model-1, model-2",
    "model: treatment was answered by several: model-1, model-2",
    "agent: by its own words it was of several releases: 0.control, 0.treatment",
  ]);
});

test("checks are counted apart from those of what another operation produced, and an unknown producer is no 0", () => {
  const rowOf = (...checks: readonly object[]) => ({ outcome: "scored", metrics: { checks } }) as unknown as TrialRow;
  const line = (name: string, row: TrialRow) => {
    const metric = SERVER_METRICS.find((one) => one.name === name);
    if (metric === undefined) throw new Error(`no metric ${name}`);
    return metric.read(row);
  };
  const told = rowOf({ independent: true }, { independent: false });
  const untold = rowOf({ independent: true }, { independent: { unknown: "unavailable", detail: "no producer" } });
  expect([line("server.checks", told), line("server.independentChecks", told)]).toEqual([2, 1]);
  expect([line("server.checks", untold), line("server.independentChecks", untold)]).toEqual([
    2,
    { unknown: "unavailable", detail: "no producer" },
  ]);
});

test("an oracle that was run again between two runs, and proves the same, does not keep them apart", async () => {
  const apart = await makeBundlePair(join(dir, "apart"), { tasks: TASKS.slice(0, 1), order: "separate" });
  const treatment = join(dir, "proven-again");
  cloneBundle(apart.treatment, treatment);
  const anchor = await forge(treatment, async ({ report, events, text, put }) => {
    for (const [task, ref] of Object.entries(report.oracle)) {
      const evidence = { ...JSON.parse(await text(ref)), validatedAt: "2026-11-30T12:30:00.000Z" };
      report.oracle[task] = await put(canonicalBytes(evidence));
    }
    if (events[0] !== undefined) events[0].oracle = JSON.parse(JSON.stringify(report.oracle));
  });
  await valid({ ...apart, treatment, anchors: { ...apart.anchors, treatment: anchor } });
});

test("the same bundles give the same bytes, whichever way they are named", async () => {
  const first = comparisonBytes(await compare(pair));
  const second = comparisonBytes(await compareBundles({ folders: [join(dir, "pair")], anchors: pair.anchors }, signal));
  expect(second.equals(first)).toBe(true);
});

test("every missing and malformed anchor is a listed reason", async () => {
  const { control, treatment, anchors } = pair;
  const of = async (given: { control: string | undefined; treatment: string | undefined }) =>
    (await compareBundles({ folders: [control, treatment], anchors: given }, signal)).reasons;
  expect(await of({ control: undefined, treatment: "sha256:ABC" })).toEqual([
    "control: its anchor is missing: pass --control-report-sha256 with the report_sha256 line that the run printed",
    'treatment: its anchor is malformed: expected sha256:<64 hex>, got "sha256:ABC"',
  ]);
  const swapped = await of({ control: anchors.treatment, treatment: anchors.control });
  expect(swapped.map((reason) => reason.replace(/^(\w+): .*report\.json has digest .*/, "$1: report.json"))).toEqual([
    "control: report.json",
    "treatment: report.json",
  ]);
});

test("conditions in the wrong places, and one run given twice, are refused", async () => {
  const { control, treatment, anchors } = pair;
  expect(
    await refusal({
      control: treatment,
      treatment: control,
      anchors: { control: anchors.treatment, treatment: anchors.control },
    }),
  ).toEqual([
    "condition: the run given as control was executed under treatment",
    "condition: the run given as treatment was executed under control",
    "observedSurface: control saw an MCP server",
    "observedSurface: treatment saw no MCP server",
  ]);
  const twice = await refusal({
    control: treatment,
    treatment,
    anchors: { control: anchors.treatment, treatment: anchors.treatment },
  });
  expect(twice).toContain("anchors: both are the same, so there is one run and nothing to compare it with");
  expect(twice).toContain("observedSurface: both runs saw the same surface, so there is no treatment");
});

test("a pair of two plans is refused at every place where they differ", async () => {
  const other = await makeBundlePair(join(dir, "other-plan"), {
    tasks: TASKS.slice(0, 1),
    plan: (plan) => ({
      ...plan,
      budgets: { ...plan.budgets, tokens: 190_000 },
      runner: { ...plan.runner, digest: digestJson("another source") },
    }),
  });
  const one = await makeBundlePair(join(dir, "one-plan"), { tasks: TASKS.slice(0, 1) });
  const reasons = await refusal({
    control: one.control,
    treatment: other.treatment,
    anchors: { control: one.anchors.control, treatment: other.anchors.treatment },
  });
  expect(reasons.slice(1)).toEqual([
    "plan/budgets/tokens: control has 200000, treatment 190000",
    expect.stringMatching(/^plan\/runner\/digest: control has "sha256:/),
  ]);
});

test("a pair whose tasks were given other values of the host's variables is refused, by the variable's name", async () => {
  const under = (value: string) =>
    makeBundlePair(join(dir, `environment-${value}`), {
      tasks: TASKS.slice(0, 1),
      plan: (plan) => ({
        ...plan,
        allowEnvironment: ["REGION", "TIER"],
        environment: { REGION: `hmac-sha256:${value.repeat(64)}`, TIER: null },
      }),
    });
  const [one, other] = [await under("a"), await under("b")];
  expect(await compare(one)).toMatchObject({ valid: true });
  const reasons = await refusal({
    control: one.control,
    treatment: other.treatment,
    anchors: { control: one.anchors.control, treatment: other.anchors.treatment },
  });
  expect(reasons.slice(1)).toEqual([expect.stringMatching(/^plan\/environment\/REGION: control has "hmac-sha256:a/)]);
});

test("the comparison takes method and multiplicity from the plan, and only those that a study can name", async () => {
  const under = (analysis: object, name: string) =>
    makeBundlePair(join(dir, name), {
      tasks: TASKS.slice(0, 1),
      plan: (plan) => ({ ...plan, analysis: { ...plan.analysis, ...analysis } }),
    });
  const chosen = await compare(await under({ method: "e-half-and-sign-flip", multiplicity: "none" }, "chosen"));
  expect(chosen).toMatchObject({
    valid: true,
    primary: { analysis: { plan: { method: "e-half-and-sign-flip" } } },
    secondary: { multiplicity: "none" },
  });
  expect(await compare(await under({}, "default"))).toMatchObject({ secondary: { multiplicity: "holm" } });
  expect(await refusal(await under({ multiplicity: "bonferroni" }, "unknown"))).toEqual([
    expect.stringContaining("the plan's analysis: multiplicity"),
  ]);
});

test("runs of other machines: another platform or engine is refused, other speed is said", async () => {
  const tasks = TASKS.slice(0, 1);
  const engine = await makeBundlePair(join(dir, "engine"), {
    tasks,
    order: "separate",
    host: { treatment: { version: "28.0.0", storageDriver: "btrfs" } },
  });
  expect(await refusal(engine)).toEqual([
    'host.version: control ran on "20.10.24", treatment on "28.0.0"',
    'host.storageDriver: control ran on "overlay2", treatment on "btrfs"',
  ]);
  const arch = await makeBundlePair(join(dir, "arch"), { tasks, host: { treatment: { arch: "arm64" } } });
  expect(await refusal(arch)).toEqual([
    'treatment: host.arch: the report says "arm64", its plan "amd64"',
    'host.arch: control ran on "amd64", treatment on "arm64"',
  ]);
  const cpus = await makeBundlePair(join(dir, "cpus"), { tasks, order: "separate", host: { treatment: { cpus: 64 } } });
  const { order, interpretation } = await valid(cpus);
  expect(order).toBe("separate");
  expect(interpretation).toContain(
    "The runs were made on machines that differ (cpus 2 and 64); times are not comparable.",
  );
  expect(interpretation.some((sentence) => sentence.startsWith("order: separate."))).toBe(true);
});

test("runs that were interleaved with other partners do not belong together", async () => {
  const mixed = await makeBundlePair(join(dir, "mixed"), {
    tasks: TASKS.slice(0, 1),
    runIds: { control: "run-1", treatment: "run-2" },
  });
  expect(await refusal(mixed)).toEqual(["runId: run-1 and run-2 ran interleaved, each with another partner"]);
});

test("unscored trials are dropped with their pairs, counted by whose failure they are, and bounded", async () => {
  const lost = await makeBundlePair(join(dir, "lost"), {
    tasks: TASKS,
    script: ({ task, condition }) =>
      condition === "control"
        ? {}
        : task === "task-a"
          ? { outcome: "provider_error" }
          : task === "task-b"
            ? { outcome: "verifier_error" }
            : {},
  });
  const comparison = await valid(lost);
  expect(comparison.verdict).toBe("indecisive");
  expect(comparison.treatment.tally).toMatchObject({
    scored: 6,
    solved: 6,
    unsolved: 0,
    taskOrVerifier: 1,
    provider: 1,
    causes: { PROVIDER_STATUS: 1, REWARD_MISSING: 1 },
  });
  const { analysis } = comparison.primary;
  expect(analysis.coverage).toMatchObject({ plannedPairs: 8, completePairs: 6, dropImbalance: 0.25 });
  expect(isUnknown(analysis.worstCase) ? null : analysis.worstCase.difference).toEqual({ low: 0.75, high: 1 });
  expect(
    comparison.pairs
      .filter(({ dropped }) => dropped !== null)
      .map(({ task, dropped }) => [task, dropped])
      .sort(),
  ).toEqual([
    ["task-a", "treatment is provider_error (PROVIDER_STATUS)"],
    ["task-b", "treatment is verifier_error (REWARD_MISSING)"],
  ]);
  const tokens = comparison.secondary.metrics.find(({ name }) => name === "tokens.input");
  expect(tokens?.coverage).toMatchObject({ completePairs: 6, unscoredByReason: { treatment: { unavailable: 2 } } });
  expect(comparison.interpretation).toContain(
    "treatment: 2 of 8 trials are unscored (task or verifier 1, provider 1). None of them counts as a failure of the model.",
  );
});

test("the command prints, writes canonical bytes, and lets --fail-on make a verdict a failure", async () => {
  const out: string[] = [];
  const said: string[] = [];
  const io = {
    out: (text: string) => void out.push(text),
    say: (line: string) => void said.push(line),
    env: {},
    cwd: dir,
    projectRoot: "/",
    signal,
    interactive: false,
  };
  const options = {
    controlReportSha256: pair.anchors.control,
    treatmentReportSha256: pair.anchors.treatment,
    ledger: undefined,
    out: "comparison.json",
    failOn: undefined,
    json: false,
  };
  expect(await run(options, ["pair"], io)).toBe(0);
  expect(out.join("")).toMatch(/^verdict: better \(/);
  expect(await readFile(join(dir, "comparison.json"))).toEqual(comparisonBytes(await compare(pair)));
  expect(await run({ ...options, failOn: "worse,indecisive" }, ["pair"], io)).toBe(0);
  expect(await run({ ...options, failOn: "better" }, ["pair"], io)).toBe(1);
  expect(said).toEqual(["runner: the verdict is better, and --fail-on better makes that a failure"]);
  expect(await run({ ...options, controlReportSha256: undefined }, ["pair"], io)).toBe(1);
  const inside = join("pair", "control", "comparison.json");
  await expect(run({ ...options, out: inside }, ["pair"], io)).rejects.toMatchObject({ code: "INSIDE_BUNDLE" });
  await expect(run({ ...options, failOn: "bad" }, ["pair"], io)).rejects.toMatchObject({ code: "USAGE" });
});
