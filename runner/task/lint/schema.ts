import { readFile } from "node:fs/promises";
import { Ajv2020 } from "ajv/dist/2020.js";
import { messageOf } from "../../base/errors.ts";
import { isObject, type Json } from "../../base/json.ts";
import { parseStrictJson } from "../../base/strict-json.ts";
import type { Task } from "../model.ts";
import type { Found } from "./finding.ts";
import type { TaskFile } from "./task-files.ts";

/** Checks the public submission schema: valid, closed, giving nothing away, and agreeing with the instruction. */
export async function checkSchema(task: Task, files: readonly TaskFile[]): Promise<readonly Found[]> {
  if (task.submission === null) return [];
  const file = task.submission.schemaFile;
  let schema: Json;
  try {
    schema = parseStrictJson(await readFile(file), { source: file });
    new Ajv2020({
      strict: true,
      strictRequired: false,
      strictTypes: false,
      strictTuples: false,
      allErrors: true,
      validateFormats: false,
    }).compile(schema as object);
  } catch (thrown) {
    return [finding("error", "schema-invalid", file, messageOf(thrown), "Write a JSON Schema of the 2020-12 dialect.")];
  }
  const instruction = task.steps.map((step) => step.instruction).join("\n");
  const publicText = [instruction, ...files.filter(isPublicInput).map((entry) => entry.bytes.toString("utf8"))].join(
    "\n",
  );
  const found: Found[] = [];
  visit(schema, "", (node, pointer) => {
    found.push(...checkClosed(node, pointer, file), ...checkAnswers(node, pointer, file, publicText));
    found.push(...checkMentioned(node, pointer, file, instruction));
  });
  return found;
}

function isPublicInput(entry: TaskFile): boolean {
  return (
    entry.role === "environment" && entry.relative.endsWith(".json") && entry.relative !== "submission_schema.json"
  );
}

/** Calls back for every sub-schema. */
function visit(
  node: unknown,
  pointer: string,
  callback: (node: { readonly [key: string]: unknown }, pointer: string) => void,
): void {
  if (!isObject(node)) return;
  callback(node, pointer);
  const one = [
    "items",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "not",
    "if",
    "then",
    "else",
    "propertyNames",
  ];
  for (const key of one) visit(node[key], `${pointer}/${key}`, callback);
  for (const key of ["allOf", "anyOf", "oneOf", "prefixItems"]) {
    const list = node[key];
    if (Array.isArray(list))
      list.forEach((member, index) => void visit(member, `${pointer}/${key}/${index}`, callback));
  }
  for (const key of ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]) {
    const map = node[key];
    if (isObject(map))
      for (const [name, member] of Object.entries(map)) visit(member, `${pointer}/${key}/${name}`, callback);
  }
}

function checkClosed(node: { readonly [key: string]: unknown }, pointer: string, file: string): readonly Found[] {
  const isObjectSchema = node.type === "object" || (node.properties !== undefined && node.type === undefined);
  const closed = node.additionalProperties !== undefined || node.unevaluatedProperties !== undefined;
  // Branches of a combinator are closed by the schema that holds them.
  if (!isObjectSchema || closed || /\/(?:allOf|anyOf|oneOf|if|then|else|not|dependentSchemas)(?:\/|$)/.test(pointer))
    return [];
  const message = `the object at ${pointer || "the root"} allows any further key`;
  return [finding("error", "schema-open", file, message, 'Add "additionalProperties": false.')];
}

function checkAnswers(
  node: { readonly [key: string]: unknown },
  pointer: string,
  file: string,
  publicText: string,
): readonly Found[] {
  const found: Found[] = [];
  const only = node.const ?? (Array.isArray(node.enum) && node.enum.length === 1 ? node.enum[0] : undefined);
  if (only !== undefined && !isPublic(only, publicText)) {
    const message = `${pointer} allows one value, ${JSON.stringify(only).slice(0, 60)}, which neither the instruction nor the input names: it gives an answer away`;
    found.push(
      finding(
        "error",
        "schema-answer",
        file,
        message,
        "Describe the value's type instead, or name the value in the instruction.",
      ),
    );
  }
  for (const key of ["default", "examples"]) {
    if (node[key] === undefined) continue;
    const message = `${pointer || "the root"} has ${key}, which can give an answer away`;
    found.push(finding("warning", "schema-answer", file, message, `Leave ${key} out of the public schema.`));
  }
  return found;
}

function isPublic(value: unknown, publicText: string): boolean {
  if (typeof value === "boolean" || value === null) return false;
  return publicText.includes(typeof value === "string" ? value : JSON.stringify(value));
}

function checkMentioned(
  node: { readonly [key: string]: unknown },
  pointer: string,
  file: string,
  instruction: string,
): readonly Found[] {
  if (!Array.isArray(node.required)) return [];
  return node.required.flatMap((name): readonly Found[] => {
    if (typeof name !== "string" || mentions(instruction, name)) return [];
    const message = `the key ${JSON.stringify(name)}, required at ${pointer || "the root"}, is not named in the instruction`;
    return [finding("error", "schema-field-unmentioned", file, message, "Describe the key in the instruction.")];
  });
}

/** True when the text has the name as a word of its own. */
function mentions(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    const around = [text[at - 1] ?? " ", text[at + name.length] ?? " "];
    if (!around.some((char) => /[\p{L}\p{N}_]/u.test(char))) return true;
  }
  return false;
}

function finding(level: Found["level"], rule: Found["rule"], file: string, message: string, hint: string): Found {
  return { level, rule, file, line: null, message, hint };
}
