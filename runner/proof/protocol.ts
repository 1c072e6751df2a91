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

/** What the policy of a run is asked about a unit. */
export function policyPromptOf(protocol: Protocol, unit: Unit): string {
  return policyPrompt(template(protocol, "generation"), unit.row);
}

/** What the judges of a run are asked about these steps. */
export function verifierPromptOf(protocol: Protocol, unit: Unit, steps: readonly string[]): string {
  return verifierPrompt(template(protocol, "verifier"), unit.row, steps, protocol.settings.use_reference_solution);
}

/** What the meta model of a run is asked about a judgment. */
export function metaPromptOf(protocol: Protocol, unit: Unit, verdict: Verdict): string {
  if (!isProofRow(unit.row)) throw new TypeError("only annotated proofs have a ground truth to grade against");
  return metaPrompt(template(protocol, "meta"), unit.row, verdict, protocol.settings.use_reference_solution);
}

/** Asks the policy for a proof. */
export function policyCall(protocol: Protocol, unit: Unit): PromptedCall {
  return makeCalls(protocol, unit, "policy", policyPromptOf(protocol, unit))(0);
}

/** Asks for judgments of these steps: all are asked the same, under their own numbers. */
export function verifierCalls(
  protocol: Protocol,
  unit: Unit,
  steps: readonly string[],
): (repeat: number) => PromptedCall {
  return makeCalls(protocol, unit, "verifier", verifierPromptOf(protocol, unit, steps));
}

/** Asks for the grade of one judgment. */
export function metaCall(protocol: Protocol, unit: Unit, verdict: Verdict, repeat: number): PromptedCall {
  return makeCalls(protocol, unit, "meta", metaPromptOf(protocol, unit, verdict))(repeat);
}

function makeCalls(protocol: Protocol, unit: Unit, role: Role, prompt: string): (repeat: number) => PromptedCall {
  const endpoint = protocol.config[role];
  if (endpoint === undefined) throw missing(`section "${role}" of the config`);
  const item = isProofRow(unit.row) ? unit.row.proof_id : unit.row.problem_id;
  const request = requestBody(endpoint, prompt);
  const digest = digestBytes(request);
  return (repeat) => {
    const scope: Scope = { item, sample: unit.sample, role, repeat };
    const id = role === "policy" ? `${unit.key}/policy` : `${unit.key}/${role}/${repeat}`;
    return { id, scope, request, digest, prompt };
  };
}

function template(protocol: Protocol, name: PromptName): string {
  const prompt = protocol.prompts[name];
  if (prompt === undefined) throw missing(`${name} prompt`);
  return prompt.text;
}

function missing(what: string): RunnerError {
  return new RunnerError("input", "PROTOCOL_INCOMPLETE", `the run has no ${what}`);
}
