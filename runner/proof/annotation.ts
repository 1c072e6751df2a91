import { isObject, type Json } from "../base/json.ts";
import { type LineCheck, seen } from "./line-check.ts";
import type { Annotation, ProofRow } from "./terms.ts";

/** The steps and labels of an annotated proof, with the ground truth that follows from them. */
export type Labels = Pick<ProofRow, "steps" | "annotation" | "is_correct" | "first_error_step">;

/**
 * Reads `steps` and `annotation` (older files: its fields at the top level). Correct means no fatal and no recoverable error; the first error
 * is the smallest index among both. `is_correct` and `first_error_step`, where supplied, must agree.
 */
export function readLabels(raw: { readonly [key: string]: unknown }, check: LineCheck): Labels {
  const steps = readSteps(raw.steps, check);
  const source = raw.annotation === undefined ? raw : raw.annotation;
  if (!isObject(source)) throw check.fail("annotation", source, "an object");
  const fatal = source.first_fatal_error_step;
  if (!isIndex(fatal, steps.length)) throw check.fail("first_fatal_error_step", fatal, range(steps.length));
  const recoverable = readRecoverable(source.recoverable_error_steps, steps.length, check);
  const comment = source.reviewer_comment ?? "";
  if (typeof comment !== "string") throw check.fail("reviewer_comment", comment, "text");
  const errors = [fatal, ...recoverable].filter((index) => index >= 0);
  const first = errors.length === 0 ? -1 : Math.min(...errors);
  const correct = errors.length === 0;
  if ("is_correct" in raw && raw.is_correct !== correct) {
    throw check.fail("is_correct", raw.is_correct, `${correct}, as the annotation says`);
  }
  if ("first_error_step" in raw && raw.first_error_step !== first) {
    throw check.fail("first_error_step", raw.first_error_step, `${first}, as the annotation says`);
  }
  const annotation: Annotation = {
    first_fatal_error_step: fatal,
    recoverable_error_steps: recoverable,
    reviewer_comment: check.text("reviewer_comment", comment),
    first_error_reason: (source.first_error_reason ?? "") as Json,
    remark: (source.remark ?? "") as Json,
  };
  return { steps, annotation, is_correct: correct, first_error_step: first };
}

function readSteps(steps: unknown, check: LineCheck): string[] {
  if (!Array.isArray(steps) || steps.length === 0) throw check.fail("steps", steps, "a non-empty list of texts");
  return steps.map((step, index) => check.nonEmpty(`steps[${index}]`, step));
}

function readRecoverable(value: unknown, steps: number, check: LineCheck): number[] {
  const name = "recoverable_error_steps";
  if (!Array.isArray(value) || value.length === 0)
    throw check.fail(name, value, "[-1], or a non-empty list of step indices");
  const indices = value.map((index, at) => {
    if (!isIndex(index, steps)) throw check.fail(`${name}[${at}]`, index, range(steps));
    return index;
  });
  if (indices.length > 1 && indices.includes(-1)) {
    throw check.fail(name, value, `-1 alone or step indices alone, never mixed (${seen(value)})`);
  }
  return indices;
}

function isIndex(value: unknown, steps: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= -1 && value < steps;
}

function range(steps: number): string {
  return `an integer in -1 .. ${steps - 1}`;
}
