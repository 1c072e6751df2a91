import { mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { compareBundles } from "../../../runner/study/compare.ts";
import { verifyPair } from "../../../runner/study/verify-pair.ts";
import { type BundlePair, makeBundlePair } from "../../support/bundles.ts";

const { signal } = new AbortController();
let dir: string;
let parent: string;
let pair: BundlePair;
let file: string;
let bytes: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "pair-"));
  parent = join(dir, "pair");
  pair = await makeBundlePair(parent, { tasks: ["task-a"] });
  file = join(parent, "pair.json");
  bytes = await readFile(file, "utf8");
});
afterAll(() => rm(dir, { recursive: true, force: true }));
beforeEach(async () => {
  await rm(file, { force: true });
  await writeFile(file, bytes);
});

/** What speaks against the folder, for whoever verifies and for whoever compares. */
async function reasons(): Promise<readonly string[]> {
  const verified = await verifyPair(parent, pair.anchors, signal);
  const compared = await compareBundles({ folders: [parent], anchors: pair.anchors }, signal);
  expect(compared.valid ? [] : compared.reasons).toEqual(verified.reasons);
  expect(verified.valid).toBe(verified.reasons.length === 0);
  return verified.reasons;
}

test("the document of a pair names the two reports, their run and their plan, and the folder holds against it", async () => {
  expect(JSON.parse(bytes)).toEqual({
    schemaVersion: "1",
    kind: "pair",
    runId: "20261130T120000Z-0badcafe",
    studyId: "recorded",
    order: "interleaved",
    plan: JSON.parse(await readFile(join(pair.control, "report.json"), "utf8")).plan.digest,
    ...pair.anchors,
  });
  expect(await reasons()).toEqual([]);
});

test("interleaved runs without their document are refused, and so is one that names others or was edited", async () => {
  await rm(file);
  expect(await reasons()).toEqual([
    "pair.json is missing, and control and treatment ran interleaved: resume the run, which writes it",
  ]);
  const other = `sha256:${"0".repeat(64)}`;
  await writeFile(file, bytes.replace(pair.anchors.treatment, other));
  expect(await reasons()).toEqual([
    `pair.json: treatment is ${other}, the report of treatment has ${pair.anchors.treatment}`,
  ]);
  await writeFile(file, bytes.replace("0badcafe", "0badbeef"));
  expect(await reasons()).toEqual(
    ["control", "treatment"].map(
      (side) => `pair.json: runId is 20261130T120000Z-0badbeef, the report of ${side} has 20261130T120000Z-0badcafe`,
    ),
  );
  await writeFile(file, `${bytes}\n`);
  expect(await reasons()).toEqual([`${file} is not written as canonical JSON`]);
  await writeFile(file, bytes.replace('"order"', '"more":1,"order"'));
  expect(await reasons()).toEqual([expect.stringContaining("pair.json")]);
});

test("a link in its place is refused", async () => {
  await rename(file, join(dir, "elsewhere.json"));
  await symlink(join(dir, "elsewhere.json"), file);
  expect(await reasons()).toEqual([`${file} is not a regular file`]);
});

test("conditions that were executed apart need no document, and say so", async () => {
  const apart = await makeBundlePair(join(dir, "apart"), { tasks: ["task-a"], order: "separate" });
  const comparison = await compareBundles({ folders: [join(dir, "apart")], anchors: apart.anchors }, signal);
  expect(comparison).toMatchObject({ valid: true, order: "separate" });
  expect(JSON.stringify(comparison)).toMatch(/order: separate|separate/);
});
