import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { canonicalBytes } from "../base/canonical-json.ts";
import { type Digest, digestJson } from "../base/digest.ts";
import { makeDirectory, writeDurably } from "../base/durable.ts";
import { hasCode, RunnerError } from "../base/errors.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import { digestSchema } from "../evidence/object-ref.ts";

/** What a validation proves something about, part by part; a change of any part makes the proof stale. */
export type OracleParts = Readonly<Record<string, Digest>>;

const evidenceSchema = z.strictObject({
  schemaVersion: z.literal("1"),
  kind: z.literal("oracle-evidence"),
  task: z.string(),
  /** Digest of `parts`. */
  key: digestSchema,
  parts: z.record(z.string(), digestSchema),
  /** Anchor of the oracle run's report. */
  report: digestSchema,
  oracleRuns: z.int().min(1),
  traps: z.int().min(0),
  validatedAt: z.string(),
});

/** A task's proof that the oracle solves it, nop does not, and every trap fails. */
export type OracleEvidence = z.infer<typeof evidenceSchema>;

/** What is known about a task's proof. */
export type OracleStanding =
  | { readonly state: "current"; readonly evidence: OracleEvidence }
  | { readonly state: "missing" }
  /** There is a proof of something else; `changed` names the parts that differ. */
  | { readonly state: "stale"; readonly changed: readonly string[] };

/** The key under which a proof of these parts is kept. */
export function oracleKey(parts: OracleParts): Digest {
  return digestJson(parts);
}

/** Keeps a proof in the runner's local state. */
export async function keepOracleEvidence(stateDir: string, evidence: OracleEvidence): Promise<void> {
  const dir = folderOf(stateDir, evidence.task);
  await mkdir(dir, { recursive: true });
  await makeDirectory(dir);
  await writeDurably(join(dir, fileOf(evidence.key)), canonicalBytes(evidence));
}

/** Looks for a proof of exactly these parts, and says what changed when there is only another. */
export async function findOracleEvidence(stateDir: string, task: string, parts: OracleParts): Promise<OracleStanding> {
  const dir = folderOf(stateDir, task);
  const key = oracleKey(parts);
  const names = await readdir(dir).catch((thrown: unknown) => {
    if (hasCode(thrown, "ENOENT")) return [];
    throw thrown;
  });
  const found: OracleEvidence[] = [];
  for (const name of names.filter((entry) => /^[0-9a-f]{64}\.json$/.test(entry))) {
    const evidence = await readEvidence(join(dir, name));
    if (evidence.key !== oracleKey(evidence.parts) || fileOf(evidence.key) !== name || evidence.task !== task) {
      throw new RunnerError(
        "integrity",
        "ORACLE_EVIDENCE_CHANGED",
        `${join(dir, name)} does not belong to its own key`,
        {
          hint: "Delete the file and run `runner oracle` again.",
        },
      );
    }
    if (evidence.key === key) return { state: "current", evidence };
    found.push(evidence);
  }
  const latest = found.sort((a, b) => (a.validatedAt < b.validatedAt ? 1 : -1))[0];
  if (latest === undefined) return { state: "missing" };
  const partNames = new Set([...Object.keys(parts), ...Object.keys(latest.parts)]);
  return { state: "stale", changed: [...partNames].filter((name) => parts[name] !== latest.parts[name]).sort() };
}

/** Parses evidence that was copied into a bundle. */
export function parseOracleEvidence(bytes: Uint8Array, source: string): OracleEvidence {
  return parseInput(evidenceSchema, parseStrictJson(bytes, { source }), source);
}

async function readEvidence(path: string): Promise<OracleEvidence> {
  try {
    return parseOracleEvidence(await readFile(path), path);
  } catch (thrown) {
    if (!(thrown instanceof RunnerError)) throw thrown;
    throw new RunnerError("integrity", "ORACLE_EVIDENCE_CHANGED", thrown.message, {
      hint: "Delete the file and run `runner oracle` again.",
      cause: thrown,
    });
  }
}

function folderOf(stateDir: string, task: string): string {
  return join(stateDir, "oracle", encodeURIComponent(task));
}

function fileOf(key: Digest): string {
  return `${key.slice("sha256:".length)}.json`;
}
