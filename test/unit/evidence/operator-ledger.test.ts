import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Digest, digestBytes } from "../../../runner/base/digest.ts";
import { RunnerError } from "../../../runner/base/errors.ts";
import { lockFile } from "../../../runner/evidence/file-lock.ts";
import {
  type AnchorEntry,
  appendAnchor,
  findAnchor,
  readOperatorLedger,
} from "../../../runner/evidence/operator-ledger.ts";

let dir: string;
let path: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "operator-ledger-"));
  path = join(dir, "anchors.jsonl");
});
afterEach(() => rm(dir, { recursive: true }));

const ONE = digestBytes("one");
const TWO = digestBytes("two");

function entry(runId: string, reportSha256: Digest, supersedes: Digest | null = null): AnchorEntry {
  return {
    runId,
    condition: "control",
    studyId: "study",
    reportSha256,
    supersedes,
    recordedAt: "2026-11-30T12:00:00.000Z",
  };
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  const thrown = await work.then(
    () => new Error("nothing was thrown"),
    (error: unknown) => error,
  );
  if (!(thrown instanceof RunnerError)) throw thrown;
  return thrown.code;
}

test("each line carries the digest of the line before, and an anchor is found by run and condition", async () => {
  await appendAnchor(path, entry("a", ONE));
  await appendAnchor(path, { ...entry("a", TWO), condition: "treatment" });
  const [first = "", second = ""] = (await readFile(path, "utf8")).split("\n");
  expect(JSON.parse(first).previous).toBeNull();
  expect(JSON.parse(second).previous).toBe(digestBytes(first));
  expect(await readOperatorLedger(path)).toEqual({
    anchors: [entry("a", ONE), { ...entry("a", TWO), condition: "treatment" }],
    head: digestBytes(second),
  });
  expect(await findAnchor(path, "a", "treatment")).toBe(TWO);
  expect(await codeOf(findAnchor(path, "b", "control"))).toBe("ANCHOR_UNKNOWN");
});

test("a resumed run's anchor replaces the one it names, and no other", async () => {
  await appendAnchor(path, entry("a", ONE));
  expect(await codeOf(appendAnchor(path, entry("a", TWO)))).toBe("ANCHOR_NOT_LATEST");
  await appendAnchor(path, entry("a", TWO, ONE));
  expect(await findAnchor(path, "a", "control")).toBe(TWO);
  expect((await readOperatorLedger(path)).anchors).toHaveLength(2);
});

test("appending the latest anchor again changes nothing, so that an interrupted append can be repeated", async () => {
  await appendAnchor(path, entry("a", ONE));
  const before = await readFile(path, "utf8");
  await appendAnchor(path, entry("a", ONE));
  expect(await readFile(path, "utf8")).toBe(before);
});

test("a changed, dropped or reordered line is refused", async () => {
  for (const [index, digest] of [ONE, TWO, digestBytes("three")].entries())
    await appendAnchor(path, entry(`run-${index}`, digest));
  const [first = "", second = "", third = ""] = (await readFile(path, "utf8")).trimEnd().split("\n");
  for (const lines of [
    [first.replace(ONE, TWO), second, third],
    [first, third],
    [second, first, third],
    [first, first, second, third],
  ]) {
    await writeFile(path, `${lines.join("\n")}\n`);
    expect(await codeOf(readOperatorLedger(path))).toBe("LEDGER_BROKEN");
    expect(await codeOf(appendAnchor(path, entry("new", ONE)))).toBe("LEDGER_BROKEN");
  }
});

test("a ledger inside a bundle is refused, through a link too, before anything is written", async () => {
  const bundle = join(dir, "bundle");
  await mkdir(join(bundle, "objects", "deep"), { recursive: true });
  await writeFile(join(bundle, "ledger.jsonl"), "");
  await symlink(join(bundle, "objects"), join(dir, "elsewhere"));
  await symlink(path, join(dir, "link.jsonl"));
  expect(await codeOf(appendAnchor(join(bundle, "anchors.jsonl"), entry("a", ONE)))).toBe("INSIDE_BUNDLE");
  expect(await codeOf(appendAnchor(join(bundle, "objects", "deep", "x"), entry("a", ONE)))).toBe("INSIDE_BUNDLE");
  expect(await codeOf(appendAnchor(join(dir, "elsewhere", "x"), entry("a", ONE)))).toBe("INSIDE_BUNDLE");
  expect(await codeOf(appendAnchor(join(dir, "link.jsonl"), entry("a", ONE)))).toBe("NOT_A_FILE");
  expect(await codeOf(appendAnchor(join(dir, "none", "x"), entry("a", ONE)))).toBe("NO_SUCH_FOLDER");
  expect(await readFile(join(bundle, "ledger.jsonl"), "utf8")).toBe("");
});

test("a ledger that is not there has no anchor to read", async () => {
  expect(await codeOf(readOperatorLedger(path))).toBe("LEDGER_MISSING");
});

test("appends at once each keep their line, and the chain holds", async () => {
  const entries = Array.from({ length: 12 }, (_, index) => entry(`run-${index}`, digestBytes(String(index))));
  await Promise.all(entries.map((one) => appendAnchor(path, one)));
  const { anchors } = await readOperatorLedger(path);
  expect(anchors.map(({ runId }) => runId).sort()).toEqual(entries.map(({ runId }) => runId).sort());
});

test("the lock keeps other processes out while it is held, and not after", async () => {
  await writeFile(path, "");
  const other = () => promisify(execFile)("flock", ["--nonblock", path, "true"]);
  {
    await using _lock = await lockFile(path);
    await expect(other()).rejects.toMatchObject({ code: 1 });
  }
  await other();
});
