import type { Source, StudyFacts } from "../report/model.ts";
import { evidenceSentence } from "./compare-wording.ts";
import type { ComparedStudy } from "./comparison.ts";
import type { Plan } from "./plan.ts";

type StudyPart = Pick<ComparedStudy, "studyId" | "evidenceClass" | "subset" | "agent" | "model" | "mcp" | "budgets"> &
  Pick<Plan, "repetitions" | "seed" | "runner">;

/** What the study's plan binds, in words. */
export function studyFacts(
  study: StudyPart,
  order: StudyFacts["order"],
  modelSource: StudyFacts["modelSource"],
  planDigest: string,
): StudyFacts & Pick<ComparedStudy, "evidenceClass"> {
  const { agent, model, mcp, budgets, runner } = study;
  const binding = (name: string): string => String(runner[name] ?? "unknown (missing)");
  return {
    studyId: study.studyId,
    evidenceClass: study.evidenceClass,
    causalClaimAuthorized: false,
    subset: study.subset,
    order,
    modelSource,
    repetitions: study.repetitions,
    facts: [
      ["plan", planDigest],
      ["evidence class", study.evidenceClass],
      ["causal claim authorised", "no"],
      [
        "agent",
        `${agent.name}${agent.version === null ? "" : ` ${agent.version}`}${agent.reasoningEffort === null ? "" : `, reasoning effort ${agent.reasoningEffort}`}`,
      ],
      [
        "model",
        model === null
          ? "none: the agent asks no model"
          : `${model.id}, ${model.api}, ${model.baseUrl ?? model.source}`,
      ],
      ["server of the treatment", `${mcp.name}, surface ${mcp.surface}`],
      ["order of the conditions", order],
      ["repetitions", String(study.repetitions)],
      ["seed", String(study.seed)],
      [
        "budgets of a trial",
        Object.entries(budgets)
          .filter(([, value]) => value !== undefined)
          .map(([name, value]) => `${name} ${String(value)}`)
          .join(", "),
      ],
      [
        "runner",
        `${binding("version")}, source ${binding("digest")}${runner.dirty === true ? ", changed since its commit" : ""}`,
      ],
    ],
  };
}

/** How every report counts; `alternative` rules are named, because tools differ. */
export function countingRules(paired: boolean): string[] {
  const rules = [
    "Missing scores: a trial without a valid verdict (verifier_error, invalid_task, invalid_condition, provider_error, infra_error, interrupted) has no score. It is never 0 and never left out unseen: a mean is over scored trials only and stands beside how many of the planned ones those are, and beside the bounds if every missing score were 0, or 1.",
    "A crashed, timed-out or stopped agent's work is verified and scored like any other.",
    "Means of a condition are over tasks, each task's repetitions averaged first; the table by task shows what a mean would hide.",
    "A value that the evidence does not support is unknown, with its reason; it is never 0 and in no sum.",
  ];
  if (paired)
    rules.push(
      "A pair with an unscored side is dropped whole from the primary result, counted, and bounded by the worst case for and against the treatment.",
    );
  return rules;
}

/** What a reader must know first. */
export function cautionsOf(
  study: StudyFacts & { readonly evidenceClass: ComparedStudy["evidenceClass"] },
  sources: readonly Source[],
  unscored: number,
): string[] {
  const cautions: string[] = [];
  const loose = sources.filter(({ heldAgainstAnchor }) => !heldAgainstAnchor);
  if (loose.length > 0) {
    cautions.push(
      `NOT HELD AGAINST AN ANCHOR: ${loose.map(({ name }) => name).join(", ")}. The evidence agrees with itself, but nothing from outside of it shows that it is what the run wrote. Pass the digest that the run printed as report_sha256.`,
    );
  }
  if (study.order === "separate")
    cautions.push(
      "The conditions were executed apart (order: separate), so the order inside pairs was not randomised.",
    );
  if (study.subset) cautions.push("This is a subset of the study: not its tasks and repetitions as planned.");
  if (unscored > 0)
    cautions.push(`${unscored} ${unscored === 1 ? "trial has" : "trials have"} no score; see how it counts, and why.`);
  if (study.evidenceClass !== "held-out-comparison") cautions.push(evidenceSentence(study.evidenceClass));
  return cautions;
}
