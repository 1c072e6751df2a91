import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { canonicalBytes } from "../../../runner/base/canonical-json.ts";
import { type Digest, digestBytes } from "../../../runner/base/digest.ts";
import { openStore, readableStore } from "../../../runner/evidence/store.ts";
import { renderReport } from "../../../runner/report/render.ts";
import { compareBundles } from "../../../runner/study/compare.ts";
import { findRun } from "../../../runner/study/find-run.ts";
import { makeReport } from "../../../runner/study/report.ts";
import { isComplete } from "../../../runner/study/resume.ts";
import { readSealedRecord } from "../../../runner/study/unsealed.ts";
import { verifyBundle } from "../../../runner/study/verify-bundle.ts";
import type { TrialRecord } from "../../../runner/trial/record.ts";
import { type BundlePair, makeBundlePair } from "../../support/bundles.ts";
import { cloneBundle, forge, type Parts } from "../../support/bundles-forge.ts";

const { signal } = new AbortController();
let dir: string;
let pair: BundlePair;
/** A run of which a trial was scored and made again, as no runner does. */
let graded: BundlePair;
/** The control's trials: the first was cut off once, the second met a failed provider once. */
let cutOff: number;
let failed: number;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "resumed-"));
  const numbers: number[] = [];
  await makeBundlePair(join(dir, "plain"), {
    script: ({ number, condition }) => {
      if (condition === "control") numbers.push(number);
      return {};
    },
  });
  [cutOff = 0, failed = 0] = numbers;
  graded = await makeBundlePair(join(dir, "graded"), {
    order: "separate",
    history: { control: { failed: [failed], as: {} } },
  });
  pair = await makeBundlePair(join(dir, "pair"), { history: { control: { cutOff: [cutOff], failed: [failed] } } });
});
afterAll(() => rm(dir, { recursive: true, force: true }));

test("a run that was cut off, resumed, sealed with a failed provider and resumed again holds, and counts each trial once", async () => {
  const report = JSON.parse(await readFile(join(pair.control, "report.json"), "utf8"));
  const attempts = (entries: readonly { number: number; attempt: number }[]) =>
    entries.map(({ number, attempt }) => [number, attempt]);
  expect(attempts(report.cutOff)).toEqual([[cutOff, 1]]);
  expect(attempts(report.superseded)).toEqual([[failed, 1]]);
  expect(attempts(report.trials).sort()).toEqual(
    [...report.trials].map(({ number }) => [number, number === cutOff || number === failed ? 2 : 1]).sort(),
  );
  expect([report.earlier.length, report.unsealed.length]).toEqual([1, 1]);
  expect((await verifyBundle(pair.control, pair.anchors.control, signal)).reasons).toEqual([]);
  const comparison = await compareBundles({ folders: [join(dir, "pair")], anchors: pair.anchors }, signal);
  expect(comparison).toMatchObject({
    valid: true,
    control: { superseded: 1, cutOff: 1, tally: { planned: 3, scored: 3 } },
    treatment: { superseded: 0, cutOff: 0 },
  });
  expect(JSON.stringify(comparison)).toContain(
    "Earlier attempts that a later one superseded: control 1 sealed and 1 cut off, treatment 0 sealed and 0 cut off.",
  );
});

test("a report lists every attempt of the trials that had several, and which of them counts", async () => {
  const request = { path: join(dir, "pair"), anchors: { report: undefined, ...pair.anchors }, timelineTrials: [] };
  const model = await makeReport(request, signal);
  expect(
    model.attempts.map(({ number, attempt, side, state, outcome }) => [number, attempt, side, state, outcome]),
  ).toEqual(
    [
      [cutOff, 1, "control", "cut off", null],
      [cutOff, 2, "control", "counts", "scored"],
      [failed, 1, "control", "superseded", "provider_error"],
      [failed, 2, "control", "counts", "scored"],
    ].sort(byTask(model.attempts)),
  );
  expect(model.sides.map(({ side, superseded, cutOff: cut }) => [side, superseded, cut])).toEqual([
    ["control", 1, 1],
    ["treatment", 0, 0],
  ]);
  const markdown = renderReport(model, "md");
  expect(markdown).toContain("## Attempts");
  expect(markdown).toMatch(/\| no: superseded \| provider\\_error \| the provider failed \(status 500\) \|/);
  expect(markdown).toMatch(/\| no: cut off \| none was sealed \| the runner's process ended \|/);
  expect(renderReport(model, "html")).toContain("Attempts");
});

/** Attempts stand in the order of their tasks' names, which the seed does not know. */
function byTask(attempts: readonly { readonly number: number }[]) {
  const place = new Map(attempts.map(({ number }, index) => [number, index]));
  return (a: readonly unknown[], b: readonly unknown[]): number =>
    (place.get(Number(a[0])) ?? 0) - (place.get(Number(b[0])) ?? 0);
}

test("a record that names more than most is read like any other", async () => {
  const store = await openStore(join(dir, "long"));
  const report = JSON.parse(await readFile(join(pair.control, "report.json"), "utf8"));
  const record = await readSealedRecord(readableStore(pair.control), report.trials[0].record);
  const long = { ...record, observations: ["x".repeat(17 * 1024 * 1024)] };
  const ref = await store.put(canonicalBytes(long));
  expect((await readSealedRecord(store, ref)).observations[0]?.length).toBe(17 * 1024 * 1024);
});

test("nothing is missing in it, so a resume has nothing to do", async () => {
  await using run = await findRun(join(dir, "pair"));
  expect([isComplete(run), run.sides.map(({ due }) => due)]).toEqual([true, [[], []]]);
});

const at = (events: Parts["events"], type: string, last = false) =>
  last ? events.findLastIndex((event) => event.type === type) : events.findIndex((event) => event.type === type);

test.each<readonly [string, (parts: Parts) => void, RegExp]>([
  [
    "an attempt that was cut off is not listed",
    ({ report }) => void delete report.cutOff,
    /attempt \d+\/1 was cut off, and the report does not list it/,
  ],
  [
    "an attempt is listed as cut off that was not",
    ({ report }) => void report.cutOff?.push({ number: failed, attempt: 1 }),
    /lists attempt \d+\/1 as cut off, and the ledger does not/,
  ],
  [
    "a superseded attempt is left out",
    ({ report }) => void report.superseded.pop(),
    /the ledger seals 4 attempts, the report lists 3/,
  ],
  [
    "the earlier report is left out",
    ({ report }) => void delete report.earlier,
    /supersedes other reports than the report lists/,
  ],
  [
    "a resumption supersedes another report",
    ({ events }) => {
      const event = events[at(events, "run-resumed", true)];
      if (event !== undefined) event.supersedes = `sha256:${"0".repeat(64)}`;
    },
    /supersedes other reports than the report lists/,
  ],
  [
    "a resumption is taken out",
    ({ events }) => void events.splice(at(events, "run-resumed", true), 1),
    /trial-started while the run is closed/,
  ],
  [
    "a second attempt of a trial that was scored",
    ({ events }) => {
      const event = events.find((one) => one.type === "trial-sealed" && one.number === failed);
      if (event !== undefined) event.outcome = "scored";
    },
    /is started although the attempt before it was sealed as scored/,
  ],
  [
    "a second attempt while the first is open",
    ({ events }) => {
      for (const type of ["trial-interrupted", "run-resumed"]) events.splice(at(events, type), 1);
    },
    /is started while the attempt before it is open/,
  ],
  [
    "an attempt out of turn",
    ({ events }) => {
      for (const event of events) if (event.number === failed && event.attempt === 2) event.attempt = 3;
    },
    /is started out of turn/,
  ],
  [
    "an attempt that is sealed after it was cut off",
    ({ events }) => {
      const seal = events.find((one) => one.type === "trial-sealed" && one.number === cutOff);
      if (seal !== undefined) events.splice(events.indexOf(seal), 0, { ...seal, attempt: 1 });
    },
    /is sealed after it was cut off/,
  ],
  [
    "an opening under another order",
    ({ events }) => {
      if (events[0] !== undefined) events[0].order = "separate";
    },
    /opens a run with order separate, the report says interleaved/,
  ],
  [
    "another plan than it was opened with",
    ({ events }) => {
      for (const event of events) if (event.type === "run-opened") event.plan = `sha256:${"0".repeat(64)}`;
    },
    /ledger\.jsonl, line 1: the run was opened with another plan than the report says/,
  ],
  [
    "another engine than it was opened on",
    ({ report }) => void Object.assign(report.host, { version: "28.0.0" }),
    /ledger\.jsonl, line 1: the run was opened with another host\.version than the report says/,
  ],
  [
    "another image than it was opened with",
    ({ events }) => {
      if (events[0] !== undefined) events[0].images = { gateway: `sha256:${"1".repeat(64)}` };
    },
    /ledger\.jsonl, line 1: the run was opened with another image gateway than the report says/,
  ],
  [
    "an earlier start than it was opened at",
    ({ report }) => {
      report.startedAt = "2026-11-29T12:00:00.000Z";
    },
    /ledger\.jsonl, line 1: the run was opened with another startedAt than the report says/,
  ],
  [
    "an opening that says nothing of what it bound",
    ({ events }) => {
      if (events[0] !== undefined) delete events[0].host;
    },
    /ledger\.jsonl, line 1/,
  ],
  [
    "an opening of another run in the middle",
    ({ events }) => {
      const event = events[at(events, "run-resumed")];
      if (event !== undefined) event.runId = "elsewhere";
    },
    /does not open run/,
  ],
])("forged: %s", async (name, change, reason) => {
  const clone = join(dir, "forged", name.replaceAll(" ", "-"));
  cloneBundle(pair.control, clone);
  const anchor: Digest = await forge(clone, change);
  const { valid, reasons } = await verifyBundle(clone, anchor, signal);
  expect([valid, reasons.filter((line) => reason.test(line)).length > 0, reasons]).toEqual([false, true, reasons]);
});

/** A run whose first attempt of one trial was scored, and was forged into one that is tried again: both attempts really were made. */
async function setAside(name: string, change: (record: TrialRecord) => void): Promise<readonly string[]> {
  const clone = join(dir, "set-aside", name.replaceAll(" ", "-"));
  cloneBundle(graded.control, clone);
  const anchor = await forge(clone, async (parts) => {
    const [entry] = parts.report.superseded;
    if (entry === undefined) throw new Error("nothing is superseded");
    const record: TrialRecord = JSON.parse(await parts.text(entry.record));
    const { number, attempt } = record;
    Object.assign(record, { reward: null, rewards: null });
    change(record);
    entry.record = await parts.put(canonicalBytes(record));
    const seal = parts.events.find(
      (event) => event.type === "trial-sealed" && event.number === number && event.attempt === attempt,
    );
    Object.assign(seal ?? {}, { outcome: record.outcome, record: { ...entry.record } });
  });
  return (await verifyBundle(clone, anchor, signal)).reasons;
}

const cause = { code: "ENGINE_FAILED", detail: "the engine failed" };

test.each<readonly [TrialRecord["outcome"], RegExp]>([
  ["infra_error", /^trial \d+, attempt 1: its outcome is infra_error although its evidence is whole and graded$/],
  ["interrupted", /^trial \d+, attempt 1: its outcome is interrupted although its evidence is whole and graded$/],
  ["provider_error", /^trial \d+, attempt 1: its outcome is provider_error although its last step was graded$/],
])("a score that was forged into %s and drawn again is refused, by trial and attempt", async (outcome, reason) => {
  const reasons = await setAside(outcome, (record) => void Object.assign(record, { outcome, cause }));
  expect([reasons.filter((line) => reason.test(line)).length, reasons]).toEqual([1, reasons]);
});

test("an attempt whose trace was lost, set aside although it was graded, holds and is shown as that", async () => {
  const name = "without-trace";
  const reasons = await setAside(name, (record) => {
    const { gateway: _, ...images } = record.images;
    Object.assign(record, { outcome: "infra_error", cause, gateway: null, images });
    delete record.trajectory;
  });
  expect(reasons).toEqual([]);
  const path = join(dir, "set-aside", name);
  const anchor = digestBytes(await readFile(join(path, "report.json")));
  const request = {
    path,
    anchors: { report: anchor, control: undefined, treatment: undefined },
    timelineTrials: [],
  };
  const model = await makeReport(request, signal);
  const [aside] = model.attempts.filter(({ state }) => state === "superseded");
  expect(aside?.causeDetail).toBe("the engine failed; set aside although graded");
  expect(renderReport(model, "md")).toContain("set aside although graded");
  const comparison = await compareBundles(
    { folders: [path, graded.treatment], anchors: { control: anchor, treatment: graded.anchors.treatment } },
    signal,
  );
  expect(JSON.stringify(comparison)).toContain(
    "control 1 sealed (1 of them set aside although graded) and 0 cut off, treatment 0 sealed and 0 cut off",
  );
});

test("a bundle that was only taken apart and sealed again holds, so that it is the forgeries that are refused", async () => {
  const clone = join(dir, "forged", "untouched");
  cloneBundle(pair.control, clone);
  expect((await verifyBundle(clone, await forge(clone, () => undefined), signal)).reasons).toEqual([]);
});
