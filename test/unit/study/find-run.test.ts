import { appendFile, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { createBundle } from "../../../runner/evidence/bundle.ts";
import type { LedgerLine } from "../../../runner/evidence/ledger.ts";
import { objectPath } from "../../../runner/evidence/store.ts";
import { findRun, holdSide } from "../../../runner/study/find-run.ts";
import type { PreparedPlan } from "../../../runner/study/make-plan.ts";
import { isComplete, resumeRun } from "../../../runner/study/resume.ts";
import type { SessionOptions } from "../../../runner/study/session.ts";
import { requireFit, takeFolder } from "../../../runner/study/unbegun.ts";
import { makeBundlePair } from "../../support/bundles.ts";

let root: string;
let made: string;
let dir: string;
/** The control's trials, in their order. */
const numbers: number[] = [];

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "find-run-"));
  made = join(root, "made");
  await makeBundlePair(made, {
    script: ({ number, condition }) => {
      if (condition === "control") numbers.push(number);
      // One trial of each side says nothing about the agent, and one says that its task is broken.
      if (number === numbers[0]) return { outcome: "provider_error" };
      return number === numbers[1] ? { outcome: "verifier_error" } : {};
    },
  });
});
afterAll(() => rm(root, { recursive: true, force: true }));
beforeEach(async () => {
  dir = join(await mkdtemp(join(root, "case-")), "run");
  await cp(made, dir, { recursive: true });
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const ledgerOf = (side: string): string => join(dir, side, "ledger.jsonl");

async function linesOf(side: string): Promise<string[]> {
  return (await readFile(ledgerOf(side), "utf8")).trimEnd().split("\n");
}

/** Leaves a side as a process left it that was killed after so many lines of its ledger. */
async function cutAfter(side: string, lines: number, tail = ""): Promise<void> {
  await writeFile(ledgerOf(side), `${(await linesOf(side)).slice(0, lines).join("\n")}\n${tail}`);
  await rm(join(dir, side, "report.json"));
}

async function due(path = dir): Promise<Record<string, [number, number][]>> {
  await using run = await findRun(path);
  return Object.fromEntries(
    run.sides.map(({ condition, due: missing }) => [
      condition,
      missing.map(({ number, attempt }) => [number, attempt]),
    ]),
  );
}

function refusal(path = dir): Promise<{ code: string; message: string }> {
  return findRun(path).then(
    () => ({ code: "NONE", message: "it was found" }),
    ({ code, message }) => ({ code, message }),
  );
}

test("a sealed run is due for the trials that say nothing about the agent, and for no other", async () => {
  const [first = 0] = numbers;
  expect(await due()).toEqual({ control: [[first, 2]], treatment: [] });
  await using run = await findRun(dir);
  expect([isComplete(run), run.sides.map(({ sealed }) => sealed)]).toEqual([false, [true, true]]);
});

test("what was never begun is due for its first attempt, what was begun and not sealed for its second", async () => {
  const [first = 0, second = 0, third = 0] = numbers;
  // Opened, begun and sealed, begun.
  await cutAfter("control", 4);
  expect(await due()).toEqual({
    control: [
      [first, 2],
      [second, 2],
      [third, 1],
    ],
    treatment: [],
  });
});

test("a line that was cut off while it was written is no line (G4)", async () => {
  const [first = 0, second = 0, third = 0] = numbers;
  const fourth = (await linesOf("control"))[4] ?? "";
  await cutAfter("control", 4, fourth.slice(0, 60));
  const expected = {
    control: [
      [first, 2],
      [second, 2],
      [third, 1],
    ],
    treatment: [],
  };
  expect(await due()).toEqual(expected);
  // Blocks that a file system had set aside and never filled.
  await appendFile(ledgerOf("control"), Buffer.alloc(512));
  expect(await due()).toEqual(expected);
});

test("a record whose line is missing is an attempt that was cut off: the trial is made again and counted once", async () => {
  const [, , third = 0] = numbers;
  const lines = await linesOf("control");
  // The last trial's record is in the store, and its line and the closing one are gone.
  await cutAfter("control", lines.length - 2);
  expect((await due()).control).toContainEqual([third, 2]);
});

test("a line whose record is missing is evidence that was taken away: it is refused, so that no score is drawn twice", async () => {
  const sealed = (await linesOf("control"))
    .map(
      (line) => (JSON.parse(line) as LedgerLine).event as { type: string; number: number; record: { digest: string } },
    )
    .findLast(({ type }) => type === "trial-sealed");
  const digest = sealed?.record.digest ?? "";
  await rm(join(dir, "control", objectPath(digest as Parameters<typeof objectPath>[0])));
  expect(await refusal()).toEqual({
    code: "EVIDENCE_LOST",
    message: `${dir}/control: the ledger seals attempts whose records are missing or changed: trial ${sealed?.number}, attempt 1 (scored): ${digest}`,
  });
});

test("damage in the middle of a ledger is refused with its line", async () => {
  const lines = await linesOf("control");
  await writeFile(ledgerOf("control"), `${[...lines.slice(0, 2), ...lines.slice(3)].join("\n")}\n`);
  expect(await refusal()).toEqual({
    code: "LEDGER_BROKEN",
    message: `${ledgerOf("control")}, line 3: does not follow the line before it`,
  });
});

test("one side's folder stands for the whole run, and is refused when its partner is not beside it", async () => {
  expect(await due(join(dir, "treatment"))).toEqual(await due(dir));
  await rm(join(dir, "control"), { recursive: true });
  expect(await refusal(join(dir, "treatment"))).toMatchObject({ code: "PARTNER_MISSING" });
});

test("a side that was not opened yet is due whole", async () => {
  await cutAfter("control", 1);
  await rm(join(dir, "treatment"), { recursive: true });
  const { control, treatment } = await due();
  expect([control?.length, treatment?.length]).toEqual([3, 3]);
});

test("a side whose ledger was made and not written to is held with the run, not a second time", async () => {
  await cutAfter("control", 1);
  await rm(join(dir, "treatment"), { recursive: true });
  await mkdir(join(dir, "treatment"));
  await writeFile(ledgerOf("treatment"), "");
  await using run = await findRun(dir);
  expect(run.sides.map(({ condition, openings }) => [condition, openings === null])).toEqual([
    ["control", false],
    ["treatment", true],
  ]);
  for (const side of run.sides) expect(await holdSide(side)).toBeNull();
});

test("where nothing was begun there is nothing to continue, and the same folder can be used again", async () => {
  expect(await refusal(join(dir, "elsewhere"))).toMatchObject({ code: "NO_RUN" });
  for (const side of ["control", "treatment"]) {
    await writeFile(ledgerOf(side), '{"event":{"cond');
    await rm(join(dir, side, "report.json"));
  }
  await rm(join(dir, "pair.json"));
  expect(await refusal()).toMatchObject({ code: "NOTHING_BEGUN" });
  for (const _time of [1, 2]) await (await takeFolder(dir))[Symbol.asyncDispose]();
  expect(await readdir(dir)).toEqual([]);
});

test("what holds a line of a run, or anything else, is never cleared away", async () => {
  await expect(takeFolder(dir)).rejects.toMatchObject({ code: "OUT_NOT_EMPTY" });
  const plan = join(root, "plan");
  await mkdir(plan, { recursive: true });
  await writeFile(join(plan, "plan.json"), "{}");
  await expect(takeFolder(plan)).rejects.toMatchObject({ code: "OUT_NOT_EMPTY" });
});

test("a folder that is merely named like a store is nobody's to clear away", async () => {
  const kept = join(root, "mine", "objects", "notes.txt");
  await mkdir(join(root, "mine", "objects"), { recursive: true });
  await writeFile(kept, "kept");
  await expect(takeFolder(join(root, "mine"))).rejects.toMatchObject({ code: "OUT_NOT_EMPTY" });
  expect(await readFile(kept, "utf8")).toBe("kept");
  await mkdir(join(root, "bare", "objects", "tmp"), { recursive: true });
  await using _bare = await takeFolder(join(root, "bare"));
});

test("of two that would begin a run in one folder, the second is refused until the first has ended, and takes nothing of it away", async () => {
  const out = join(root, "new", "run");
  const taken = await Promise.allSettled([takeFolder(out), takeFolder(out)]);
  const [first] = taken.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  const refused = taken.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
  expect(refused).toMatchObject([{ code: "RUN_BUSY", message: `another process is about to run in ${out}` }]);
  // The first has made its bundles and opened none yet.
  const bundles = [await createBundle(join(out, "control")), await createBundle(join(out, "treatment"))];
  await expect(takeFolder(out)).rejects.toMatchObject({ code: "RUN_BUSY" });
  expect(await readdir(join(out, "control"))).toContain("ledger.jsonl");
  for (const bundle of bundles) await bundle[Symbol.asyncDispose]();
  await first?.[Symbol.asyncDispose]();
  await using _second = await takeFolder(out);
  expect(await readdir(out)).toEqual([]);
});

test("a look at a folder that is fit changes nothing in it", async () => {
  const out = join(root, "looked-at");
  await expect(requireFit(out)).resolves.toBeUndefined();
  expect(await readdir(root)).not.toContain("looked-at");
  const bundle = await createBundle(out);
  await bundle[Symbol.asyncDispose]();
  await expect(requireFit(out)).resolves.toBeUndefined();
  expect(await readdir(out)).toContain("ledger.jsonl");
  await writeFile(join(out, "mine"), "");
  await expect(requireFit(out)).rejects.toMatchObject({ code: "OUT_NOT_EMPTY" });
});

test("two at once: whoever comes second is refused as long as the first is at work", async () => {
  await using _first = await findRun(dir);
  expect(await refusal()).toEqual({ code: "RUN_BUSY", message: `another process is at work in ${dir}/control` });
});

test("a plan or a report that is not the one the run wrote is refused", async () => {
  const plan = join(dir, "control", "plan.json");
  const bytes = await readFile(plan, "utf8");
  await writeFile(plan, bytes.replace('"seed":7', '"seed":8'));
  expect(await refusal()).toMatchObject({
    code: "PLAN_CHANGED",
    message: expect.stringContaining(`${plan} has digest`),
  });
  await writeFile(plan, bytes);
  const report = join(dir, "control", "report.json");
  await writeFile(
    report,
    (await readFile(report, "utf8")).replace("20261130T120000Z-0badcafe", "20261130T120000Z-0badbeef"),
  );
  expect(await refusal()).toMatchObject({ code: "REPORT_CHANGED" });
});

test("two runs in one folder are resumed one by one", async () => {
  await rm(join(dir, "treatment"), { recursive: true });
  const other = join(root, "other");
  await makeBundlePair(other, { runIds: { control: "run-a", treatment: "run-b" }, order: "separate" });
  await cp(join(other, "treatment"), join(dir, "treatment"), { recursive: true });
  expect(await refusal()).toMatchObject({ code: "NOT_ONE_RUN" });
  await using lone = await findRun(join(other, "treatment"));
  expect(lone.sides.map(({ condition }) => condition)).toEqual(["treatment"]);
});

test("a resume names every binding that has changed, and writes nothing", async () => {
  await using run = await findRun(dir);
  const before = await readFile(ledgerOf("control"));
  const { host, images } = run.openings.opening;
  Object.assign(images, { gateway: `sha256:${"1".repeat(64)}` });
  const options = (prepared: Partial<PreparedPlan>, facts: object): SessionOptions =>
    ({
      engine: { facts },
      prepared: { tasks: new Map(), own: { ids: new Map() }, ...prepared },
    }) as unknown as SessionOptions;
  const plan = {
    ...run.plan,
    seed: 8,
    tasks: run.plan.tasks.map((task, index) =>
      index === 1 ? { ...task, digests: { ...task.digests, verifier: `sha256:${"2".repeat(64)}` as const } } : task,
    ),
  };
  const changed = run.plan.tasks[1];
  await expect(resumeRun(options({ plan }, host), run)).rejects.toMatchObject({
    code: "PLAN_CHANGED",
    message:
      `the plan no longer holds: /seed: planned 7, found 8; ` +
      `/tasks/1/digests/verifier (${changed?.id}): planned "${changed?.digests.verifier}", found "sha256:${"2".repeat(64)}"`,
  });
  await expect(resumeRun(options({ plan: run.plan }, { ...host, version: "28.0.0" }), run)).rejects.toMatchObject({
    code: "RUN_CHANGED",
    message:
      `run ${run.runId} cannot be continued here: engine version: bound "20.10.24", found "28.0.0"; ` +
      `image gateway: bound "sha256:${"1".repeat(64)}", found nothing`,
  });
  expect(await readFile(ledgerOf("control"))).toEqual(before);
});
