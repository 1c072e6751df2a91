import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { digestBytes } from "../../../runner/base/digest.ts";
import { findOracleEvidence, keepOracleEvidence, oracleKey } from "../../../runner/study/oracle-evidence.ts";

let state: string;
beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), "state-"));
});
afterEach(() => rm(state, { recursive: true }));

const parts = (verifier: string) => ({ contract: digestBytes("contract"), verifier: digestBytes(verifier) });

async function keep(verifier: string): Promise<void> {
  await keepOracleEvidence(state, {
    schemaVersion: "1",
    kind: "oracle-evidence",
    task: "a/b",
    key: oracleKey(parts(verifier)),
    parts: parts(verifier),
    report: digestBytes("report"),
    oracleRuns: 1,
    traps: 3,
    validatedAt: "2026-11-30T00:00:00.000Z",
  });
}

test("a proof is current for exactly its parts, and a change is named", async () => {
  expect(await findOracleEvidence(state, "a/b", parts("v1"))).toEqual({ state: "missing" });
  await keep("v1");
  expect(await findOracleEvidence(state, "a/b", parts("v1"))).toMatchObject({
    state: "current",
    evidence: { traps: 3 },
  });
  expect(await findOracleEvidence(state, "a/b", parts("v2"))).toEqual({ state: "stale", changed: ["verifier"] });
  await keep("v2");
  expect(await findOracleEvidence(state, "a/b", parts("v1"))).toMatchObject({ state: "current" });
});

test("an edited proof is refused", async () => {
  await keep("v1");
  const folder = join(state, "oracle", "a%2Fb");
  const [name = ""] = await readdir(folder);
  const text = await readFile(join(folder, name), "utf8");
  await writeFile(join(folder, name), text.replace(digestBytes("v1"), digestBytes("v2")));
  await expect(findOracleEvidence(state, "a/b", parts("v2"))).rejects.toThrow("does not belong to its own key");
});
