import { RunnerError } from "../base/errors.ts";
import { trim } from "./text.ts";

/** Refusals of one line of a data file. */
export interface LineCheck {
  /** One error that names file, line, field and value. */
  readonly fail: (field: string, value: unknown, expected: string) => RunnerError;
  /** A text that has a UTF-8 form. */
  readonly text: (field: string, value: unknown) => string;
  /** A text with something other than white space in it. */
  readonly nonEmpty: (field: string, value: unknown) => string;
}

/** Checks for line `line` (from 1) of `source`. */
export function lineCheck(source: string, line: number): LineCheck {
  const fail = (field: string, value: unknown, expected: string): RunnerError =>
    new RunnerError(
      "input",
      "DATA_INVALID",
      `${source}, line ${line}: ${field}: expected ${expected}, got ${seen(value)}`,
      {
        hint: "Correct the line; nothing was written and no model was called.",
        details: { source, line, field },
      },
    );
  const text = (field: string, value: unknown): string => {
    if (typeof value !== "string") throw fail(field, value, "text");
    if (!value.isWellFormed()) throw fail(field, value, "text without lone surrogates");
    return value;
  };
  const nonEmpty = (field: string, value: unknown): string => {
    const result = text(field, value);
    if (trim(result) === "") throw fail(field, value, "non-empty text");
    return result;
  };
  return { fail, text, nonEmpty };
}

/** A value in at most 80 characters. */
export function seen(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
