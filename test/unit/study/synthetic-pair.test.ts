import { mkdtemp, readFile, rm, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listObjects, objectPath } from "../../../runner/evidence/store.ts";
import { compareBundles } from "../../../runner/study/compare.ts";
import { type SyntheticPair, writeSyntheticPair } from "../../../runner/study/synthetic-pair.ts";
import { verifyBundle } from "../../../runner/study/verify-bundle.ts";

const signal = new AbortController().signal;
const options = { tasks: 3, repetitions: 2, seed: 5, payloadBytes: 3000, report: () => undefined, signal };
let dir: string;
let pair: SyntheticPair;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "synthetic-pair-"));
  pair = await writeSyntheticPair(join(dir, "pair"), options);
});
afterAll(() => rm(dir, { recursive: true, force: true }));

test("a synthetic pair is accepted by verify and compare, and says that it is a demonstration", async () => {
  for (const condition of ["control", "treatment"] as const) {
    const found = await verifyBundle(join(pair.dir, condition), pair.anchors[condition], signal);
    expect(found).toMatchObject({ valid: true, kind: "run", reasons: [], trials: 6 });
  }
  const comparison = await compareBundles({ folders: [pair.dir], anchors: pair.anchors }, signal);
  expect(comparison).toMatchObject({ valid: true, evidenceClass: "demo", study: { modelSource: "scripted" } });
  if (!comparison.valid) throw new Error("it is valid");
  expect(comparison.pairs).toHaveLength(6);
  expect(comparison.server.use).toMatchObject({ used: 6 });
});

test("the same size and seed give the same trials, byte for byte, and another seed gives others", async () => {
  const trialsOf = async ({ dir: folder }: SyntheticPair) =>
    JSON.parse(await readFile(join(folder, "treatment", "report.json"), "utf8")).trials as unknown;
  const again = await writeSyntheticPair(join(dir, "again"), options);
  expect(await trialsOf(again)).toEqual(await trialsOf(pair));
  const other = await writeSyntheticPair(join(dir, "other"), { ...options, seed: 6 });
  expect(await trialsOf(other)).not.toEqual(await trialsOf(pair));
});

test("a synthetic bundle is held to its bytes like any other", async () => {
  const again = await writeSyntheticPair(join(dir, "cut"), options);
  const folder = join(again.dir, "treatment");
  const [digest] = [...(await listObjects(folder)).digests].sort();
  if (digest === undefined) throw new Error("it has objects");
  await truncate(join(folder, objectPath(digest)), 1);
  const found = await verifyBundle(folder, again.anchors.treatment, signal);
  expect(found.valid).toBe(false);
  expect(found.reasons.some((reason) => reason.startsWith(`object ${digest} has 1 bytes`))).toBe(true);
});
