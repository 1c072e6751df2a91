import { readFile } from "node:fs/promises";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { messageOf, RunnerError } from "../base/errors.ts";
import { type ExactJson, isObject, type Json } from "../base/json.ts";
import { parseExactJson, parseStrictJson } from "../base/strict-json.ts";
import type { Unknown } from "../base/unknown.ts";

/** Largest submission that is checked, in bytes. */
export const MAX_SUBMISSION_BYTES = 16 * 1024 * 1024;

const MAX_PLACES = 50;

/** What the public contract says about a submission; recorded apart from the hidden verifier's reward. */
export type SubmissionReading =
  | { readonly state: "valid" }
  | {
      readonly state: "invalid";
      readonly places: readonly { readonly pointer: string; readonly message: string }[];
      /** True when there are more places than listed. */
      readonly truncated: boolean;
    }
  | { readonly state: "absent" }
  | ({ readonly state: "unknown" } & Unknown);

/** Checks the bytes of one submission; null stands for a submission that is not there. */
export type SubmissionCheck = (bytes: Uint8Array | null) => SubmissionReading;

/**
 * Reads a `submission_schema.json` (JSON Schema 2020-12) and gives the check. `format` is annotation only, as the dialect has it.
 * @throws RunnerError `SUBMISSION_SCHEMA` when the file is no valid schema.
 */
export async function loadSubmissionCheck(schemaFile: string): Promise<SubmissionCheck> {
  return compileSubmissionCheck(parseStrictJson(await readFile(schemaFile), { source: schemaFile }), schemaFile);
}

/** {@link loadSubmissionCheck} for a schema that was read before. */
export function compileSubmissionCheck(schema: Json, source: string): SubmissionCheck {
  if (!isObject(schema) && typeof schema !== "boolean") throw badSchema(source, "a schema is an object");
  let validate: ValidateFunction;
  try {
    validate = new Ajv2020({ allErrors: true, strict: false, validateFormats: false, logger: false }).compile(schema);
  } catch (thrown) {
    throw badSchema(source, messageOf(thrown));
  }
  return (bytes) => {
    if (bytes === null) return { state: "absent" };
    let exact: ExactJson;
    try {
      exact = parseExactJson(bytes, { source: "the submission", maxBytes: MAX_SUBMISSION_BYTES });
    } catch (thrown) {
      return { state: "invalid", places: [{ pointer: "", message: messageOf(thrown) }], truncated: false };
    }
    const { value, rounded } = toPlain(exact);
    if (validate(value)) {
      return rounded && comparesNumbers(schema) ? unsure() : { state: "valid" };
    }
    const errors = validate.errors ?? [];
    if (rounded && errors.every((error) => NUMERIC.has(error.keyword))) return unsure();
    const places = errors
      .slice(0, MAX_PLACES)
      .map((error) => ({ pointer: error.instancePath, message: describe(error) }));
    return { state: "invalid", places, truncated: errors.length > MAX_PLACES };
  };
}

/** Keywords whose outcome can change when an integer beyond 2^53 - 1 is rounded. */
const NUMERIC = new Set([
  "const",
  "enum",
  "uniqueItems",
  "multipleOf",
  "maximum",
  "minimum",
  "exclusiveMaximum",
  "exclusiveMinimum",
]);

function comparesNumbers(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(comparesNumbers);
  if (!isObject(schema)) return false;
  return Object.entries(schema).some(([key, member]) => NUMERIC.has(key) || comparesNumbers(member));
}

function unsure(): SubmissionReading {
  const detail =
    "an integer beyond 2^53 - 1 stands where the schema compares numbers, and its validator would round it";
  return { state: "unknown", unknown: "unavailable", detail };
}

function toPlain(value: ExactJson): { readonly value: unknown; readonly rounded: boolean } {
  let rounded = false;
  const convert = (node: ExactJson): unknown => {
    if (typeof node === "bigint") {
      rounded = true;
      const number = Number(node);
      return Number.isFinite(number) ? number : node > 0n ? Number.MAX_VALUE : -Number.MAX_VALUE;
    }
    if (Array.isArray(node)) return node.map(convert);
    if (!isObject(node)) return node;
    const result: Record<string, unknown> = {};
    for (const [key, member] of Object.entries(node)) {
      Object.defineProperty(result, key, {
        value: convert(member as ExactJson),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return result;
  };
  return { value: convert(value), rounded };
}

function describe(error: ErrorObject): string {
  const params = Object.entries(error.params).map(([key, value]) => `${key} ${JSON.stringify(value)}`);
  const extra = error.keyword === "additionalProperties" || error.keyword === "enum" ? ` (${params.join(", ")})` : "";
  return `${error.message ?? error.keyword}${extra}`;
}

function badSchema(source: string, problem: string): RunnerError {
  return new RunnerError("input", "SUBMISSION_SCHEMA", `${source}: ${problem}`, {
    hint: "Write a JSON Schema of the 2020-12 dialect.",
  });
}
