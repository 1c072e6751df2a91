import { digestBytes } from "../base/digest.ts";
import { RunnerError } from "../base/errors.ts";
import { type Call, requestBody, type Scope } from "./call.ts";
import type { Config } from "./config.ts";
import { metaPrompt, type Prompt, type PromptName, policyPrompt, verifierPrompt } from "./prompts.ts";
import { isProofRow, type Role, type Row, recordKey, type Settings, type Task, type Verdict } from "./terms.ts";

/** Everything that decides what is asked. */
export interface Protocol {
  readonly task: Task;
  readonly runId: string;
  readonly config: Config;
  readonly settings: Settings;
  readonly prompts: Readonly<Partial<Record<PromptName, Prompt>>>;
}

/** One record to be made: a sample of a problem, or an annotated proof. */
export interface Unit {
  readonly key: string;
  readonly row: Row;
  readonly sample: number;
}

/** The units of a run, in the order of their records. */
export function unitsOf(rows: readonly Row[], samples: number): Unit[] {
  return rows.flatMap((row, index) =>
    Array.from({ length: samples }, (_, sample) => ({ key: recordKey(index, sample), row, sample })),
  );
}

/** How many calls a run can make, transport retries not counted. */
export interface CallBudget {
  readonly selected_rows: number;
  readonly policy_calls: number;
  readonly verifier_calls_max: number;
  readonly meta_calls_max: number;
  readonly note: string;
}

/** The most calls that `rows` selected rows can cause. */
export function callBudget(task: Task, rows: number, settings: Settings): CallBudget {
  const units = rows * settings.samples;
  return {
    selected_rows: rows,
    policy_calls: task === "prover" ? units : 0,
    verifier_calls_max: units * settings.verifier_repeats,
    meta_calls_max: settings.meta ? units * settings.verifier_repeats : 0,
    note: "Transport retries are not counted and can add samples at the provider; a failed generation skips its judgments, an invalid judgment its grade.",
  };
}

/** A call with the prompt that its request carries. */
export interface PromptedCall extends Call {
  readonly prompt: string;
}

/** Asks the policy for a proof. */
export function policyCall(protocol: Protocol, unit: Unit): PromptedCall {
  return makeCall(protocol, unit, "policy", 0, policyPrompt(template(protocol, "generation"), unit.row));
}

/** Asks for one judgment of these steps. */
export function verifierCall(protocol: Protocol, unit: Unit, steps: readonly string[], repeat: number): PromptedCall {
  const { use_reference_solution: reference } = protocol.settings;
  const prompt = verifierPrompt(template(protocol, "verifier"), unit.row, steps, reference);
  return makeCall(protocol, unit, "verifier", repeat, prompt);
}

/** Asks for the grade of one judgment. */
export function metaCall(protocol: Protocol, unit: Unit, verdict: Verdict, repeat: number): PromptedCall {
  if (!isProofRow(unit.row)) throw new TypeError("only annotated proofs have a ground truth to grade against");
  const { use_reference_solution: reference } = protocol.settings;
  const prompt = metaPrompt(template(protocol, "meta"), unit.row, verdict, reference);
  return makeCall(protocol, unit, "meta", repeat, prompt);
}

function makeCall(protocol: Protocol, unit: Unit, role: Role, repeat: number, prompt: string): PromptedCall {
  const endpoint = protocol.config[role];
  if (endpoint === undefined) throw missing(`section "${role}" of the config`);
  const item = isProofRow(unit.row) ? unit.row.proof_id : unit.row.problem_id;
  const scope: Scope = { item, sample: unit.sample, role, repeat };
  const request = requestBody(endpoint, prompt);
  const id = role === "policy" ? `${unit.key}/policy` : `${unit.key}/${role}/${repeat}`;
  return { id, scope, request, digest: digestBytes(request), prompt };
}

function template(protocol: Protocol, name: PromptName): string {
  const prompt = protocol.prompts[name];
  if (prompt === undefined) throw missing(`${name} prompt`);
  return prompt.text;
}

function missing(what: string): RunnerError {
  return new RunnerError("input", "PROTOCOL_INCOMPLETE", `the run has no ${what}`);
}
