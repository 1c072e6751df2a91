import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { digestBytes } from "../../../runner/base/digest.ts";
import { RunnerError } from "../../../runner/base/errors.ts";
import { isUnknown } from "../../../runner/base/unknown.ts";
import type { CommandIo } from "../../../runner/cli/command.ts";
import { run } from "../../../runner/cli/report.ts";
import { run as review } from "../../../runner/cli/review.ts";
import { appendAnchor } from "../../../runner/evidence/operator-ledger.ts";
import type { ReportModel } from "../../../runner/report/model.ts";
import { REPORT_FORMATS, renderReport } from "../../../runner/report/render.ts";
import { compareBundles, comparisonBytes } from "../../../runner/study/compare.ts";
import { makeReport } from "../../../runner/study/report.ts";
import { type BundlePair, makeBundlePair } from "../../support/bundles.ts";

const signal = new AbortController().signal;
const NONE = { report: undefined, control: undefined, treatment: undefined };
const TASKS = ["a", "b", "c", "d", "e", "f", "g"].map((letter) => `task-${letter}`);

let dir: string;
let parent: string;
let pair: BundlePair;
let model: ReportModel;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "report-"));
  parent = join(dir, "run");
  pair = await makeBundlePair(parent, {
    tasks: TASKS,
    script: ({ task, condition }) =>
      task === "task-g" && condition === "control"
        ? { outcome: "provider_error" }
        : { reward: condition === "treatment" || task === "task-f" ? 1 : 0 },
  });
  model = await makeReport({ path: parent, anchors: { ...NONE, ...pair.anchors }, timelineTrials: [] }, signal);
});
afterAll(() => rm(dir, { recursive: true, force: true }));

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly said: string;
}

const OPTIONS = {
  format: undefined,
  out: undefined,
  reportSha256: undefined,
  controlReportSha256: undefined,
  treatmentReportSha256: undefined,
  ledger: undefined,
  trial: [],
  review: [],
  allowedSigners: undefined,
};

function io(): CommandIo & { readonly seen: { out: string; said: string } } {
  const seen = { out: "", said: "" };
  return {
    seen,
    out: (text) => {
      seen.out += text;
    },
    say: (line) => {
      seen.said += `${line}\n`;
    },
    env: {},
    cwd: dir,
    projectRoot: dir,
    signal,
    interactive: false,
  };
}

async function report(subject: string, options: Partial<Parameters<typeof run>[0]> = {}): Promise<Ran> {
  const world = io();
  const code = await run({ ...OPTIONS, ...options }, [subject], world);
  return { code, ...world.seen };
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  const thrown = await work.then(
    () => new Error("nothing was thrown"),
    (error: unknown) => error,
  );
  if (!(thrown instanceof RunnerError)) throw thrown;
  return thrown.code;
}

test("a pair's report carries coverage, missing scores with bounds, and the paired result task by task", () => {
  expect(model.sources.map(({ name, sha256, heldAgainstAnchor }) => [name, sha256, heldAgainstAnchor])).toEqual([
    ["control", pair.anchors.control, true],
    ["treatment", pair.anchors.treatment, true],
  ]);
  expect(model.sides.map(({ side, scored, planned }) => [side, scored, planned])).toEqual([
    ["control", 6, 7],
    ["treatment", 7, 7],
  ]);
  expect(model.tasks.find(({ task }) => task === "task-g")).toEqual({
    task: "task-g",
    control: {
      planned: 1,
      scored: 0,
      solved: 0,
      mean: { unknown: "missing", detail: "no trial is scored" },
      low: 0,
      high: 1,
      unscored: { provider_error: 1 },
    },
    treatment: { planned: 1, scored: 1, solved: 1, mean: 1, low: 1, high: 1, unscored: {} },
    paired: {
      planned: 1,
      complete: 0,
      control: { unknown: "missing", detail: "no pair is complete" },
      treatment: { unknown: "missing", detail: "no pair is complete" },
      difference: { unknown: "missing", detail: "no pair is complete" },
      outcome: "dropped",
    },
  });
  expect(model.paired?.verdict).toBe("indecisive");
  expect(model.paired?.result).toMatchObject({ difference: 5 / 6, completePairs: 6, plannedPairs: 7, tasks: 6 });
  expect(model.paired?.result?.pairs).toEqual([
    { control: "solved", treatment: "solved", count: 1 },
    { control: "failed", treatment: "solved", count: 5 },
    { control: "unscored", treatment: "solved", count: 1 },
  ]);
  expect(model.cautions.join("\n")).toContain("1 trial has no score");
  expect(model.cautions.join("\n")).not.toContain("NOT HELD");
  // The class's own words, as the comparison has them.
  expect(model.cautions.at(-1)).toMatch(/^Observation on public tasks: it says what was seen in these runs of these/);
});

test("a trial's line carries its cause, its failed check and its figures, unknown ones with their reason", () => {
  const of = (task: string, side: string) => model.trials.find((line) => line.task === task && line.side === side);
  expect(of("task-g", "control")).toMatchObject({
    outcome: "provider_error",
    cause: "PROVIDER_STATUS",
    causeDetail: "the provider failed (status 500)",
    reward: null,
    submission: { unknown: "missing" },
  });
  expect(of("task-a", "control")).toMatchObject({ reward: 0, failedCheck: "answer", modelSource: "scripted" });
  expect(of("task-a", "treatment")?.figures).toMatchObject({
    "model.requests": 3,
    "tokens.input": 900,
    "tokens.output": 50,
    "server.valid": 2,
    "server.invalid": 1,
    "model.cost": 0,
  });
});

test("a timeline shows requests to the model and calls of the server in order, and which went wrong", () => {
  const timeline = model.timelines.find(({ task, side }) => task === "task-a" && side === "treatment");
  const spans = timeline?.spans;
  if (spans === undefined || isUnknown(spans)) throw new Error("no timeline");
  expect(spans.filter(({ lane }) => lane === "model").map(({ ok }) => ok)).toEqual([true, true, true]);
  expect(spans.filter(({ lane }) => lane === "tool").map(({ label, ok }) => [label, ok])).toEqual([
    ["math.find", true],
    ["math.run", true],
    ["math.run", false],
  ]);
  expect(spans.every(({ startMicros, endMicros }) => 0 <= startMicros && startMicros <= endMicros)).toBe(true);
  expect(model.timelines).toHaveLength(12);
  expect(model.timelinesLeftOut).toBe("2 of 14 trials are not drawn; name them with --trial to see them.");
});

test("the trial that was asked for is drawn, a provider's failure marked", async () => {
  const number = model.trials.find(({ task, side }) => task === "task-g" && side === "control")?.number ?? 0;
  const { timelines } = await makeReport({ path: pair.control, anchors: NONE, timelineTrials: [number] }, signal);
  expect(timelines.map((timeline) => timeline.number)).toEqual([number]);
  const spans = timelines[0]?.spans;
  if (spans === undefined || isUnknown(spans)) throw new Error("no timeline");
  expect(spans.map(({ lane, ok }) => [lane, ok])).toContainEqual(["model", false]);
});

test("a trial that there is not cannot be drawn", async () => {
  await expect(makeReport({ path: pair.control, anchors: NONE, timelineTrials: [99] }, signal)).rejects.toMatchObject({
    code: "TRIAL_UNKNOWN",
    message: "no trial has the number 99",
  });
});

test("a run that was not finished is told apart from what is no run", async () => {
  const cut = join(dir, "not-finished");
  await cp(pair.control, cut, { recursive: true });
  await rm(join(cut, "report.json"));
  await expect(
    makeReport({ path: cut, anchors: { ...NONE, report: pair.anchors.control }, timelineTrials: [] }, signal),
  ).rejects.toThrow(/was not finished/);
  const parent = join(dir, "pair-not-finished");
  await cp(pair.control, join(parent, "control"), { recursive: true });
  await cp(pair.treatment, join(parent, "treatment"), { recursive: true });
  await rm(join(parent, "control", "report.json"));
  await expect(makeReport({ path: parent, anchors: NONE, timelineTrials: [] }, signal)).rejects.toMatchObject({
    code: "REPORT_MISSING",
    hint: expect.stringContaining("runner resume"),
  });
});

test.each(REPORT_FORMATS)("the same bundles give the same bytes as %s, from another folder too", async (format) => {
  const copy = join(dir, `copy-${format}`);
  await cp(parent, copy, { recursive: true });
  const again = await makeReport({ path: copy, anchors: { ...NONE, ...pair.anchors }, timelineTrials: [] }, signal);
  expect(renderReport(again, format)).toBe(renderReport(model, format));
});

test("without an anchor the report is made, and says that it was not held against one", async () => {
  const { code, out, said } = await report(pair.treatment);
  expect(code).toBe(0);
  expect(out).toContain("NOT HELD AGAINST AN ANCHOR: treatment");
  expect(out).toContain(`| treatment | ${pair.anchors.treatment} | NO |`);
  expect(out).toContain("**SCRIPTED");
  expect(said).toContain("was not held against an anchor");
});

test("a bundle that does not hold is refused with its reasons, and nothing is reported", async () => {
  const wrong = await report(pair.treatment, { reportSha256: pair.anchors.control });
  expect([wrong.code, wrong.out]).toEqual([1, ""]);
  expect(wrong.said).toContain(`the anchor says ${pair.anchors.control}`);

  const changed = join(dir, "changed");
  await cp(parent, changed, { recursive: true });
  const shelf = join(changed, "treatment", "objects", "sha256");
  const [first = ""] = (await readdir(shelf)).sort();
  const [name = ""] = await readdir(join(shelf, first));
  const bytes = await readFile(join(shelf, first, name));
  bytes[0] = (bytes[0] ?? 0) ^ 1;
  await writeFile(join(shelf, first, name), bytes);
  for (const subject of [changed, join(changed, "treatment")]) {
    const refused = await report(subject, { format: "json" });
    expect([refused.code, refused.out]).toEqual([1, ""]);
    expect(refused.said).toContain(`sha256:${first}${name}`);
    expect(refused.said).toContain("nothing was reported");
  }
});

test("anchors, paths and notes that do not go together are one error each", async () => {
  expect(await codeOf(report(parent, { reportSha256: pair.anchors.control }))).toBe("ANCHOR_MISPLACED");
  expect(await codeOf(report(pair.control, { controlReportSha256: pair.anchors.control }))).toBe("ANCHOR_MISPLACED");
  expect(await codeOf(report(pair.control, { reportSha256: "sha256:12" }))).toBe("ANCHOR_MALFORMED");
  expect(await codeOf(report(join(dir, "nowhere")))).toBe("REPORT_SUBJECT");
  expect(await codeOf(report(dir))).toBe("REPORT_SUBJECT");
  expect(await codeOf(report(pair.control, { trial: ["x"] }))).toBe("USAGE");
  expect(await codeOf(report(pair.control, { out: join(pair.control, "report.html") }))).toBe("INSIDE_BUNDLE");
});

test("anchors come from the operator's ledger by run and condition, and a wrong line refuses the report", async () => {
  const ledger = join(dir, "anchors.jsonl");
  const { runId } = model.sides[0] ?? { runId: "" };
  const entry = { runId, studyId: "recorded", supersedes: null, recordedAt: "2026-11-30T12:00:00.000Z" };
  await appendAnchor(ledger, { ...entry, condition: "control", reportSha256: pair.anchors.control });
  expect(await codeOf(report(parent, { ledger }))).toBe("ANCHOR_UNKNOWN");
  await appendAnchor(ledger, { ...entry, condition: "treatment", reportSha256: pair.anchors.treatment });
  expect((await report(parent, { ledger, format: "json" })).out).toBe(renderReport(model, "json"));

  const wrong = join(dir, "wrong.jsonl");
  await appendAnchor(wrong, { ...entry, condition: "control", reportSha256: pair.anchors.treatment });
  expect((await report(pair.control, { ledger: wrong })).code).toBe(1);
});

test("a note is shown beside the figures and changes none; a note about another report is refused", async () => {
  const note = join(dir, "note.txt");
  await writeFile(note, "Task f was easy.\n");
  await review({ reportSha256: pair.anchors.control, note, sign: undefined, json: false }, [pair.control], io());
  const file = join(parent, "control.review.json");
  const plain = JSON.parse((await report(pair.control, { format: "json" })).out);
  const noted = JSON.parse((await report(pair.control, { format: "json", review: [file] })).out);
  expect(noted.reviews).toMatchObject([
    { about: pair.anchors.control, note: "Task f was easy.", signature: "not signed" },
  ]);
  expect({ ...noted, reviews: [] }).toEqual(plain);
  expect(await codeOf(report(pair.treatment, { review: [file] }))).toBe("REVIEW_OF_ANOTHER");
});

test("a comparison file is reported by itself, with the same verdict and the same table by task", async () => {
  const comparison = await compareBundles({ folders: [parent], anchors: pair.anchors }, signal);
  const path = join(dir, "comparison.json");
  const bytes = comparisonBytes(comparison);
  await writeFile(path, bytes);
  const anchors = { ...NONE, report: digestBytes(bytes) };
  const alone = await makeReport({ path, anchors, timelineTrials: [] }, signal);
  expect(alone.subject).toBe("comparison");
  expect(alone.paired).toEqual(model.paired);
  expect(alone.tasks).toEqual(model.tasks);
  expect(alone.sides).toEqual(model.sides);
  expect(alone.study).toEqual(model.study);
  expect(
    await codeOf(makeReport({ path, anchors: { ...NONE, report: pair.anchors.control }, timelineTrials: [] }, signal)),
  ).toBe("COMPARISON_CHANGED");
});

test("a comparison file whose figures were edited is refused, and so is one that was refused itself", async () => {
  const comparison = await compareBundles({ folders: [parent], anchors: pair.anchors }, signal);
  const text = comparisonBytes(comparison).toString("utf8");
  const path = join(dir, "edited.json");
  for (const [from, to] of [
    ['"verdict":"indecisive"', '"verdict":"better"'],
    ['"tasksThatDiffer":5', '"tasksThatDiffer":6'],
    ['"kind":"comparison"', '"kind":"judgement"'],
    ['{"', '{ "'],
    [',"study":{', ',"studies":{'],
  ] as const) {
    expect(text).toContain(from);
    await writeFile(path, text.replaceAll(from, to));
    expect(await codeOf(makeReport({ path, anchors: NONE, timelineTrials: [] }, signal))).toBe("NOT_A_COMPARISON");
  }
  const refused = await compareBundles(
    { folders: [parent], anchors: { control: undefined, treatment: undefined } },
    signal,
  );
  await writeFile(path, comparisonBytes(refused));
  const { code, said } = await report(path);
  expect(code).toBe(1);
  expect(said).toContain("its anchor is missing");
});
