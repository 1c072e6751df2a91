import { isUnknown } from "../base/unknown.ts";
import type { PairedAnalysis } from "../stats/analysis.ts";
import { explainMethod, explainResult } from "../stats/explain.ts";
import { CEILING } from "../stats/statements.ts";
import { counted, percent } from "../stats/wording.ts";
import type { ComparedRun, ComparedStudy, ServerUseCounts, ValidComparison } from "./comparison.ts";

type EvidenceClass = ComparedStudy["evidenceClass"];
type Verdict = ValidComparison["verdict"];

/** What each evidence class lets a reader conclude: the one place that says so. */
const CLASS: Readonly<Record<EvidenceClass, string>> = {
  demo: "Demonstration: its tasks were chosen to show the runner, so nothing about a model, an agent or a server follows from its figures.",
  "public-regression-observation":
    "Observation on public tasks: it says what was seen in these runs of these tasks. A model may have met public tasks before, so nothing is said about other tasks, and no causal claim is authorised.",
  "public-recovery-observation":
    "Observation of recoveries on public cases: it says what was seen in these runs of these cases. Nothing is said about other cases, and no causal claim is authorised.",
  "held-out-comparison":
    "Comparison on held-out tasks under a frozen plan: it speaks of tasks like the sampled ones. The plan authorises no causal claim.",
};

/** How a verdict may be put into words, by evidence class. `{server}` stands for the server's name. */
const VERDICT: Readonly<Record<EvidenceClass, Readonly<Record<Verdict, string>>>> = {
  demo: {
    better: "In this demonstration the trials with {server} available scored higher.",
    worse: "In this demonstration the trials with {server} available scored lower.",
    indecisive: "This demonstration does not tell the conditions apart.",
  },
  "public-regression-observation": observed("runs"),
  "public-recovery-observation": observed("runs"),
  "held-out-comparison": {
    better: "On the held-out tasks, trials with {server} available scored higher than trials without it.",
    worse: "On the held-out tasks, trials with {server} available scored lower than trials without it.",
    indecisive: "On the held-out tasks, the two conditions are not told apart.",
  },
};

function observed(noun: string): Readonly<Record<Verdict, string>> {
  return {
    better: `In these ${noun}, trials with {server} available scored higher than trials without it.`,
    worse: `In these ${noun}, trials with {server} available scored lower than trials without it.`,
    indecisive: `These ${noun} do not tell the two conditions apart.`,
  };
}

/** The class in words, for whoever has no comparison to look at. */
export function evidenceSentence(evidenceClass: EvidenceClass): string {
  return CLASS[evidenceClass];
}

/** What keeps held-out tasks from saying more than what was seen: they must be whole, repeated, and leave the control room. */
function limitsOf({ repetitions, subset }: ComparedStudy, { control }: PairedAnalysis): string[] {
  return [
    ...(subset ? ["the study was not run as it was planned"] : []),
    ...(repetitions < 2 ? ["no trial was repeated"] : []),
    ...(!isUnknown(control) && control >= CEILING ? ["the control left next to no room"] : []),
  ];
}

function limitedSentence(limits: readonly string[]): string {
  return `Observation on held-out tasks: ${limits.join(", and ")}, so it says what was seen in these runs of these tasks and nothing about other tasks. The plan authorises no causal claim.`;
}

/** What the source of the model's words takes away from every figure. */
const SOURCE: Readonly<Record<ComparedStudy["modelSource"], string | null>> = {
  live: null,
  scripted:
    "SCRIPTED: a hand-written conversation stood in for the model. These figures show that the runner works; they are no model's achievement.",
  replayed:
    "REPLAYED: a recorded conversation stood in for the model, so its words could not depend on chance or on anything that changed since.",
  none: "No model took part: the agent is a fixed program.",
};

/** What the wording is chosen from. */
export interface WordingFacts {
  readonly study: ComparedStudy;
  readonly order: "interleaved" | "separate";
  readonly analysis: PairedAnalysis;
  readonly control: ComparedRun;
  readonly treatment: ComparedRun;
  readonly use: ServerUseCounts;
  readonly machines: readonly string[];
}

/** Whole sentences in reading order; what limits the figures comes before them. */
export function interpret(facts: WordingFacts): string[] {
  const { study, order, analysis, control, treatment, use, machines } = facts;
  const { evidenceClass, mcp, modelSource, subset } = study;
  const limits = evidenceClass === "held-out-comparison" ? limitsOf(study, analysis) : [];
  const sentences: (string | null)[] = [
    SOURCE[modelSource],
    limits.length === 0 ? CLASS[evidenceClass] : limitedSentence(limits),
    subset ? "Exploratory: part of the study's tasks, or other repetitions than it says." : null,
    order === "separate"
      ? "order: separate. The conditions were executed apart, so what changed between the two runs (provider, machine, time of day) is not balanced by a random order inside pairs."
      : null,
    machines.length > 0
      ? `The runs were made on machines that differ (${machines.join("; ")}); times are not comparable.`
      : null,
    verdictSentence(analysis, evidenceClass, mcp.name),
    ...explainResult(analysis),
    lossSentence("control", control),
    lossSentence("treatment", treatment),
    use.available_unused > 0
      ? `available_unused: in ${counted(use.available_unused, "scored treatment trial")} the server was there and was never called. They stay in the result, and say nothing about the server.`
      : null,
    supersededSentence(control, treatment),
  ];
  return sentences.filter((sentence) => sentence !== null);
}

function verdictSentence({ verdict }: PairedAnalysis, evidenceClass: EvidenceClass, server: string): string | null {
  return verdict === "invalid" ? null : VERDICT[evidenceClass][verdict].replaceAll("{server}", server);
}

function lossSentence(side: string, { tally }: ComparedRun): string | null {
  if (tally.scored === tally.planned) return null;
  const parts = [
    [tally.taskOrVerifier, "task or verifier"],
    [tally.condition, "condition"],
    [tally.provider, "provider"],
    [tally.infrastructure, "infrastructure"],
  ] as const;
  const named = parts.filter(([count]) => count > 0).map(([count, what]) => `${what} ${count}`);
  return `${side}: ${tally.planned - tally.scored} of ${tally.planned} trials are unscored (${named.join(", ")}). None of them counts as a failure of the model.`;
}

function supersededSentence(control: ComparedRun, treatment: ComparedRun): string | null {
  const said = ({ superseded, setAside, cutOff }: ComparedRun): string =>
    `${superseded} sealed${setAside === 0 ? "" : ` (${setAside} of them set aside although graded)`} and ${cutOff} cut off`;
  if (control.superseded + control.cutOff + treatment.superseded + treatment.cutOff === 0) return null;
  return `Earlier attempts that a later one superseded: control ${said(control)}, treatment ${said(treatment)}. They are in no figure.`;
}

/** How the figures were made, for readers who would check them. */
export function methodSentences(analysis: PairedAnalysis, multiplicity: "holm" | "none", metrics: number): string[] {
  const { plan } = analysis;
  return [
    explainMethod(plan),
    `Missing scores: a pair with an unscored side is dropped whole and reported; an unscored trial is never taken as 0. The plan asks for ${percent(plan.minCoverage)} complete pairs, and allows the unscored shares of the conditions to differ by ${percent(plan.maxDropImbalance)}.`,
    multiplicity === "holm"
      ? `Secondary metrics carry no verdict. Their p-values are adjusted for all ${metrics} of them (Holm); their intervals are not.`
      : "Secondary metrics carry no verdict. As the plan says, their p-values are not adjusted for their number: some will look small by chance.",
    "Figures of the server's tools are described for the treatment alone: the control cannot have them.",
    "Unknown values are counted, and are never taken as 0.",
  ];
}
