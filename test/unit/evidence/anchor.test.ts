import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { digestBytes } from "../../../runner/base/digest.ts";
import { readAnchoredReport, writeReport } from "../../../runner/evidence/anchor.ts";

let dir: string;
let path: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "anchor-"));
  path = join(dir, "report.json");
});
afterEach(() => rm(dir, { recursive: true }));

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "accepted",
    (error: { code: string }) => error.code,
  );

test("a report is read back only with the anchor of its exact bytes", async () => {
  const anchor = await writeReport(path, { b: 1, a: ["é"] });
  expect(await readAnchoredReport(path, anchor)).toEqual({ a: ["é"], b: 1 });
  expect(anchor).toBe(digestBytes('{"a":["é"],"b":1}'));
});

test("every other case has its own code, and the bytes are hashed before they are parsed", async () => {
  const anchor = await writeReport(path, { a: 1 });
  const found: unknown[] = [await codeOf(readAnchoredReport(path, "sha256:ABC"))];
  await writeFile(path, "{broken");
  found.push(await codeOf(readAnchoredReport(path, anchor)));
  found.push(await codeOf(readAnchoredReport(path, digestBytes("{broken"))));
  await writeFile(path, '{"a": 1}');
  found.push(await codeOf(readAnchoredReport(path, digestBytes('{"a": 1}'))));
  await writeFile(path, '{"a":1,"a":1}');
  found.push(await codeOf(readAnchoredReport(path, digestBytes('{"a":1,"a":1}'))));
  await rm(path);
  found.push(await codeOf(readAnchoredReport(path, anchor)));
  await writeFile(join(dir, "other"), '{"a":1}');
  await symlink(join(dir, "other"), path);
  found.push(await codeOf(readAnchoredReport(path, anchor)));
  expect(found).toEqual([
    "ANCHOR_MALFORMED",
    "REPORT_CHANGED",
    "JSON_INVALID",
    "REPORT_NOT_CANONICAL",
    "JSON_INVALID",
    "REPORT_MISSING",
    "REPORT_MISSING",
  ]);
});
