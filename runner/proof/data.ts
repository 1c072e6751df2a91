import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { type Digest, digestBytes } from "../base/digest.ts";
import { hasCode, RunnerError } from "../base/errors.ts";
import { isObject, type Json } from "../base/json.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { readLabels } from "./annotation.ts";
import { lineCheck } from "./line-check.ts";
import type { ProblemRow, ProofRow, Row, Split, Task } from "./terms.ts";

/** A data file: its rows in file order and the digest of its bytes. */
export interface DataFile {
  readonly rows: readonly Row[];
  readonly sha256: Digest;
}

/**
 * Reads a benchmark file: UTF-8 JSONL, split at `\n` only, blank lines ignored. A missing `problem_id` or `proof_id` is derived from the
 * content; a duplicate id, or one problem id with two texts, is refused.
 * @throws RunnerError `DATA_INVALID`, `DATA_EMPTY`, `DATA_MISSING` or `JSON_INVALID`, each naming the line it is about.
 */
export async function readData(path: string, task: Task): Promise<DataFile> {
  const bytes = await readFile(path).catch((cause: unknown) => {
    if (!hasCode(cause, "ENOENT") && !hasCode(cause, "EISDIR")) throw cause;
    throw new RunnerError("input", "DATA_MISSING", `the data file ${path} does not exist or is no file`, {
      hint: "Give the path of a JSONL file with --data.",
      cause,
    });
  });
  return { rows: parseData(bytes, path, task), sha256: digestBytes(bytes) };
}

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/** The rows of a file's bytes; `source` names the file in refusals. */
export function parseData(bytes: Uint8Array, source: string, task: Task): Row[] {
  if (BYTE_ORDER_MARK.every((byte, index) => bytes[index] === byte)) {
    throw new RunnerError(
      "input",
      "DATA_INVALID",
      `${source}, line 1: the file: expected UTF-8 without a byte order mark, got U+FEFF before the first record`,
      { hint: "Save the file as UTF-8 without BOM; nothing was written and no model was called." },
    );
  }
  const rows: Row[] = [];
  const problems = new Map<string, string>();
  const lines = new Map<string, number>();
  let line = 0;
  for (const raw of splitLines(bytes)) {
    line += 1;
    if (isBlank(raw)) continue;
    const row = readRow(raw, source, line, task);
    const check = lineCheck(source, line);
    const known = problems.get(row.problem_id);
    if (known !== undefined && known !== row.problem) {
      throw check.fail("problem_id", row.problem_id, "one problem text for each problem_id; this id has two");
    }
    problems.set(row.problem_id, row.problem);
    const [field, id] = "proof_id" in row ? ["proof_id", row.proof_id] : ["problem_id", row.problem_id];
    const before = lines.get(id);
    if (before !== undefined) throw check.fail(field, id, `an id of its own; line ${before} has it already`);
    lines.set(id, line);
    rows.push(row);
  }
  if (rows.length === 0) {
    throw new RunnerError("input", "DATA_EMPTY", `${source}: there is no record in it`, {
      hint: "Give a JSONL file with one record per line.",
    });
  }
  return rows;
}

/** Rows of a domain, and of these the first `limit`. @throws RunnerError `NOTHING_SELECTED`. */
export function selectRows(rows: readonly Row[], domain: Split, limit: number | null): Row[] {
  const inDomain = rows.filter((row) => domain === "all" || row.domain === domain);
  const selected = limit === null ? inDomain : inDomain.slice(0, limit);
  if (selected.length === 0) {
    throw new RunnerError("input", "NOTHING_SELECTED", `no row of domain ${domain} is in the data file`, {
      hint: "Choose another --domain.",
    });
  }
  return selected;
}

function* splitLines(bytes: Uint8Array): Generator<Uint8Array> {
  let at = 0;
  for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, at)) {
    yield bytes.subarray(at, end);
    at = end + 1;
  }
  yield bytes.subarray(at);
}

function isBlank(line: Uint8Array): boolean {
  return line.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d));
}

function readRow(bytes: Uint8Array, source: string, line: number, task: Task): Row {
  const check = lineCheck(source, line);
  const raw = parseStrictJson(bytes, { source: `${source}, record on line ${line}` });
  if (!isObject(raw)) throw check.fail("the record", raw, "an object");
  const problem = check.nonEmpty("problem", raw.problem);
  const { domain } = raw;
  if (domain !== "ugd" && domain !== "qe") throw check.fail("domain", domain, '"ugd" or "qe"');
  const base: ProblemRow = {
    problem_id: raw.problem_id === undefined ? `amb-p-${short(problem)}` : check.nonEmpty("problem_id", raw.problem_id),
    problem,
    reference_solution: readReference(raw, check.text),
    domain,
    subject: (raw.subject ?? "") as Json,
  };
  if (task === "prover") return base;
  const labels = readLabels(raw, check);
  const derived = `amb-v-${short(JSON.stringify([base.problem_id, labels.steps]))}`;
  const proofId = raw.proof_id === undefined ? derived : check.nonEmpty("proof_id", raw.proof_id);
  return { ...base, proof_id: proofId, ...labels } satisfies ProofRow;
}

function readReference(
  raw: { readonly [key: string]: unknown },
  text: (field: string, value: unknown) => string,
): string {
  if (raw.reference_solution !== undefined) return text("reference_solution", raw.reference_solution);
  return raw.solution === undefined ? "" : text("solution", raw.solution);
}

function short(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
