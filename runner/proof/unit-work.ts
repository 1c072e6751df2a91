import { RunnerError } from "../base/errors.ts";
import type { Outcome } from "./call.ts";
import type { Ask } from "./checkpoint.ts";
import { metaCall, type PromptedCall, type Protocol, policyCall, type Unit, verifierCalls } from "./protocol.ts";
import type { RawStore } from "./raw-store.ts";
import { type Answer, buildRecord, readGeneration, readGrade, readJudgment, readReply } from "./record.ts";
import type { Step, UnitOfWork } from "./schedule.ts";
import { isProofRow, type ProofRecord, type Reply, type Role } from "./terms.ts";

export interface UnitContext {
  readonly protocol: Protocol;
  /** Answers a call durably: what it gives is on disk. */
  readonly ask: Ask;
  /** Keeps a raw reply. */
  readonly raw: Pick<RawStore, "put">;
  /** Called for every reply once it has been read; `error` is null for a valid one. */
  readonly onReply: (role: Role, reply: Reply, error: string | null) => void;
  /** Calls that a failed generation or an invalid judgment makes needless. */
  readonly onSpared: (calls: number) => void;
  /** Takes the finished record and keeps it. */
  readonly keep: (record: ProofRecord) => void;
}

/**
 * The work of one unit: the policy writes, then R judges read at the same time, and each valid judgment is graded as soon as it exists. The
 * record is made when all is there.
 */
export function unitWork(context: UnitContext, unit: Unit): UnitOfWork {
  const { protocol } = context;
  const { verifier_repeats: repeats, meta } = protocol.settings;
  const verifier: (Outcome | undefined)[] = Array.from({ length: repeats }, () => undefined);
  const graded: (Outcome | undefined)[] = Array.from({ length: repeats }, () => undefined);
  let policy: Outcome | undefined;

  const judge =
    (steps: readonly string[], call: PromptedCall, index: number): Step =>
    async (release) => {
      const outcome = await context.ask(call, release);
      verifier[index] = outcome;
      const reply = readReply({ outcome, raw: null });
      const { verdict, error } = readJudgment(reply, steps.length);
      context.onReply("verifier", reply, error);
      if (!meta) return [];
      if (verdict === null) {
        context.onSpared(1);
        return [];
      }
      return [
        async (release) => {
          const call = metaCall(protocol, unit, verdict, index);
          const grade = await context.ask(call, release);
          graded[index] = grade;
          const response = readReply({ outcome: grade, raw: null });
          context.onReply("meta", response, readGrade(response, call.prompt).error);
          return [];
        },
      ];
    };
  const judges = (steps: readonly string[]): Step[] => {
    const callOf = verifierCalls(protocol, unit, steps);
    return Array.from({ length: repeats }, (_, index) => judge(steps, callOf(index), index));
  };
  const generate: Step = async (release) => {
    policy = await context.ask(policyCall(protocol, unit), release);
    const reply = readReply({ outcome: policy, raw: null });
    const { steps, error } = readGeneration(reply);
    context.onReply("policy", reply, error);
    if (error === null) return judges(steps);
    context.onSpared(repeats);
    return [];
  };

  const keepRaw = (outcome: Outcome): Answer => ({
    outcome,
    raw: outcome.body === null ? null : context.raw.put(outcome.body),
  });
  const finish = async (): Promise<void> => {
    const present = verifier.filter((outcome) => outcome !== undefined);
    if (present.length > 0 && present.length < repeats) {
      throw new RunnerError(
        "integrity",
        "UNIT_INCOMPLETE",
        `unit ${unit.key} has ${present.length} of ${repeats} judgments`,
      );
    }
    const answers = {
      policy: policy === undefined ? undefined : keepRaw(policy),
      verifier: present.map(keepRaw),
      meta: graded.map((outcome) => (outcome === undefined ? undefined : keepRaw(outcome))),
    };
    context.keep(buildRecord(protocol, unit, answers));
  };
  return { first: isProofRow(unit.row) ? judges(unit.row.steps) : [generate], finish };
}
