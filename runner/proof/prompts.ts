import { readFile } from "node:fs/promises";
import { type Digest, digestBytes } from "../base/digest.ts";
import { hasCode, RunnerError } from "../base/errors.ts";
import { proofBlock } from "./steps.ts";
import type { ProofRow, Row, Verdict } from "./terms.ts";

/** The three prompts of the benchmarks. */
export type PromptName = "generation" | "verifier" | "meta";

/** A prompt template and the digest of its bytes. */
export interface Prompt {
  readonly text: string;
  readonly sha256: Digest;
}

const PLACEHOLDERS = ["problem", "human_solution", "solution", "solution_verification", "human_ground_truth"] as const;
type Placeholder = (typeof PLACEHOLDERS)[number];
const PLACEHOLDER = new RegExp(`\\{(${PLACEHOLDERS.join("|")})\\}`, "g");

/** What each prompt must show, and may show besides. */
const RULES: Readonly<Record<PromptName, { required: readonly Placeholder[]; allowed: readonly Placeholder[] }>> = {
  generation: { required: ["problem"], allowed: [] },
  verifier: { required: ["problem", "solution"], allowed: ["human_solution"] },
  meta: {
    required: ["problem", "solution", "solution_verification", "human_ground_truth"],
    allowed: ["human_solution"],
  },
};

/**
 * Reads a prompt file and checks its placeholders: a judge's prompt without the proof, or a policy's prompt that asks for the reference
 * solution, would run and mean nothing.
 * @throws RunnerError `PROMPT_MISSING` or `PROMPT_INVALID`.
 */
export async function readPrompt(path: string, name: PromptName): Promise<Prompt> {
  const bytes = await readFile(path).catch((cause: unknown) => {
    if (!hasCode(cause, "ENOENT") && !hasCode(cause, "EISDIR")) throw cause;
    throw new RunnerError("input", "PROMPT_MISSING", `the ${name} prompt ${path} does not exist or is no file`, {
      cause,
    });
  });
  const text = decode(bytes, path);
  const used = new Set(Array.from(text.matchAll(PLACEHOLDER), (match) => match[1] as Placeholder));
  const { required, allowed } = RULES[name];
  for (const placeholder of required) {
    if (!used.has(placeholder)) throw invalid(path, `the ${name} prompt lacks the placeholder {${placeholder}}`);
  }
  for (const placeholder of used) {
    if (![...required, ...allowed].includes(placeholder)) {
      throw invalid(path, `the ${name} prompt may not show {${placeholder}}`);
    }
  }
  return { text, sha256: digestBytes(bytes) };
}

function decode(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new RunnerError("input", "PROMPT_INVALID", `${path}: the bytes are not UTF-8`, { cause });
  }
}

function invalid(path: string, problem: string): RunnerError {
  return new RunnerError("input", "PROMPT_INVALID", `${path}: ${problem}`, {
    hint: `Placeholders are ${PLACEHOLDERS.map((name) => `{${name}}`).join(", ")}.`,
  });
}

/** Fills placeholders in one pass: inserted text is never searched for another placeholder. */
export function fillPrompt(template: string, values: Partial<Readonly<Record<Placeholder, string>>>): string {
  return template.replace(PLACEHOLDER, (whole, name: Placeholder) => values[name] ?? whole);
}

/** What the policy is asked: the problem, and nothing else of the row. */
export function policyPrompt(template: string, row: Row): string {
  return fillPrompt(template, { problem: row.problem });
}

/** What a judge is asked: problem, proof and, when allowed, the reference solution; never an annotation. */
export function verifierPrompt(template: string, row: Row, steps: readonly string[], useReference: boolean): string {
  return fillPrompt(template, {
    problem: row.problem,
    human_solution: reference(row, useReference),
    solution: proofBlock(steps),
  });
}

/** What the meta model is asked: the judgment, which exists by now, beside the human annotation. */
export function metaPrompt(template: string, row: ProofRow, verdict: Verdict, useReference: boolean): string {
  const { reviewer_comment, first_fatal_error_step, recoverable_error_steps } = row.annotation;
  return fillPrompt(template, {
    problem: row.problem,
    human_solution: reference(row, useReference),
    solution: proofBlock(row.steps),
    solution_verification: elements({ assessment: verdict.assessment, errors: verdict.errors }),
    human_ground_truth: elements({
      reviewer_comment,
      first_fatal_error_step: String(first_fatal_error_step),
      recoverable_error_steps: `[${recoverable_error_steps.join(", ")}]`,
    }),
  });
}

function reference(row: Row, use: boolean): string {
  return use && row.reference_solution !== "" ? row.reference_solution : "None";
}

function elements(fields: Readonly<Record<string, string>>): string {
  return Object.entries(fields)
    .map(([name, text]) => `<${name}>\n\n${text}\n\n</${name}>`)
    .join("\n\n");
}
