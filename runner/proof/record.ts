import type { ObjectRef } from "../evidence/object-ref.ts";
import type { Outcome } from "./call.ts";
import { readChat } from "./chat-response.ts";
import { finalAnswer, replyError } from "./final-answer.ts";
import { judgedOf, pessimisticAccepts } from "./judged.ts";
import { metaPromptOf, type Protocol, policyPromptOf, type Unit, verifierPromptOf } from "./protocol.ts";
import { extractSteps } from "./steps.ts";
import { isProofRow, type MetaGrade, type ProofRecord, type Reply, type Trial, type Verdict } from "./terms.ts";
import { LEVEL_SCORES, parseLevel, parseVerdict } from "./verdict.ts";

/** A completed call: what it came to, and where its exact bytes are kept. */
export interface Answer {
  readonly outcome: Outcome;
  readonly raw: ObjectRef | null;
}

/** The answers of one unit: to the policy call, to each judgment, and to each grade (only of valid judgments). */
export interface Answers {
  readonly policy?: Answer | undefined;
  readonly verifier: readonly Answer[];
  readonly meta: readonly (Answer | undefined)[];
}

/** A reply as a record shows it. A body that is no chat completion any more cannot come from this runner's own client. */
export function readReply({ outcome, raw }: Answer): Reply {
  const chat = outcome.body === null ? null : readChat(outcome.body);
  const { attempts, micros, redacted } = outcome;
  const facts = { attempts, micros, raw: chat === null ? null : raw, redacted };
  if (chat !== null) return { ...chat, error: null, ...facts };
  const error = outcome.error ?? "invalid_chat_response";
  return { text: "", reasoning_content: "", finish_reason: null, usage: null, error, model: null, ...facts };
}

/** The proof in the policy's reply, or why there is none. Steps of an unusable reply are shown, and count for nothing. */
export function readGeneration(reply: Reply): { readonly steps: string[]; readonly error: string | null } {
  const steps = extractSteps(finalAnswer(reply.text));
  return { steps, error: replyError(reply) ?? (steps.length === 0 ? "no_proof_steps" : null) };
}

/** The verdict in a judge's reply, or why it is invalid. */
export function readJudgment(
  reply: Reply,
  steps: number,
): { readonly verdict: Verdict | null; readonly error: string | null } {
  const unusable = replyError(reply);
  if (unusable !== null) return { verdict: null, error: unusable };
  const reading = parseVerdict(reply.text, steps);
  return "value" in reading ? { verdict: reading.value, error: null } : { verdict: null, error: reading.error };
}

/** The grade in the meta model's reply. */
export function readGrade(reply: Reply, prompt: string): MetaGrade {
  const refused = (error: string): MetaGrade => ({ valid: false, score: 0, error, response: reply, prompt });
  const unusable = replyError(reply);
  if (unusable !== null) return refused(unusable);
  const reading = parseLevel(reply.text);
  if ("error" in reading) return refused(reading.error);
  const score = LEVEL_SCORES[reading.value];
  return { valid: true, score, error: null, response: reply, prompt, level: reading.value };
}

/** Makes the record of a unit. A pure function of the protocol and the answers, so that evidence can be derived again. */
export function buildRecord(protocol: Protocol, unit: Unit, answers: Answers): ProofRecord {
  const { row, key, sample } = unit;
  const shared = {
    problem_id: row.problem_id,
    domain: row.domain,
    subject: row.subject,
    sample_index: sample,
    problem: row.problem,
  };
  const names = {
    run_id: protocol.runId,
    record_key: key,
    policy: protocol.config.policy?.model ?? null,
    verifier: protocol.config.verifier?.model ?? "",
  };
  if (isProofRow(row)) {
    const judged = judgments(protocol, unit, row.steps, answers);
    const truth = { is_correct: row.is_correct, first_error_step: row.first_error_step };
    return { ...shared, proof_id: row.proof_id, steps: row.steps, ...truth, ...judged, ...names };
  }
  if (answers.policy === undefined) throw new TypeError(`unit ${key} has no answer of the policy`);
  const reply = readReply(answers.policy);
  const { steps, error } = readGeneration(reply);
  const judged = error === null ? judgments(protocol, unit, steps, answers) : { inputs: {}, verifier_trials: [] };
  const inputs = { policy_prompt: policyPromptOf(protocol, unit), ...judged.inputs };
  const record: ProofRecord = {
    ...shared,
    ...judged,
    inputs,
    policy_response: reply,
    steps,
    generation_error: error,
    ...names,
  };
  const accepted = pessimisticAccepts(judgedOf(record), protocol.settings.verifier_repeats);
  return { ...record, pessimistic_correct: accepted };
}

function judgments(
  protocol: Protocol,
  unit: Unit,
  steps: readonly string[],
  answers: Answers,
): Pick<ProofRecord, "inputs" | "verifier_trials"> {
  const trials = answers.verifier.map((answer, index): Trial => {
    const response = readReply(answer);
    const { verdict, error } = readJudgment(response, steps.length);
    const trial: Trial = { index, response, parsed: verdict, error, valid: verdict !== null };
    if (!protocol.settings.meta) return trial;
    const graded = answers.meta[index];
    if (verdict === null || graded === undefined) {
      return { ...trial, meta: { valid: false, score: 0, error: "verifier_invalid", response: null } };
    }
    return { ...trial, meta: readGrade(readReply(graded), metaPromptOf(protocol, unit, verdict)) };
  });
  return { inputs: { verifier_prompt: verifierPromptOf(protocol, unit, steps) }, verifier_trials: trials };
}
