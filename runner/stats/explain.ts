import type { Known } from "../base/unknown.ts";
import { isUnknown } from "../base/unknown.ts";
import type { PairedAnalysis } from "./analysis.ts";
import type { AnalysisPlan } from "./plan.ts";
import { percent, points, sizeInPoints } from "./wording.ts";

const UNIT =
  "The unit is the task: each task's repetitions are averaged first, since repetitions of one task are not independent evidence.";

const TEST =
  "The sign-flip test is exact for any number of tasks: if the treatment did nothing, each task's difference would be as likely negative as positive, so all sign patterns are counted.";

const INTERVAL: Readonly<Record<AnalysisPlan["method"], string>> = {
  "ft15-and-sign-flip":
    "The interval is FT15: a t interval over task differences that is widened while fewer than 15 tasks lie outside the commonest difference, because there the spread seen says too little. Simulated with 5 to 130 tasks it covered the true difference in at least 94 % of the runs of every cell of its grid (docs/statistics.md).",
  "e-half-and-sign-flip":
    "The interval is E½: a Bayesian bootstrap over tasks with half a pseudo-task at the end of the scale, which also holds when a few tasks may collapse completely. Simulated with 5 to 130 tasks it covered the true difference in at least 94 % of the runs of every cell of its grid (docs/statistics.md).",
};

/** What the plan's method is and why it holds for few tasks. */
export function explainMethod(plan: AnalysisPlan): string {
  return `${UNIT} ${INTERVAL[plan.method]} ${TEST} A verdict needs both.`;
}

function number(value: Known<number>, noun: string): string {
  return isUnknown(value) ? `${noun}: ${value.detail ?? value.unknown}` : `${value} ${noun}`;
}

/** What the design could have shown, in one sentence. */
export function explainDetectable(detectable: PairedAnalysis["minimumDetectable"]): string {
  if (isUnknown(detectable)) return `Minimum detectable effect: ${detectable.detail ?? detectable.unknown}.`;
  const shown = `a difference of ${sizeInPoints(detectable.difference)} points with a chance of about 80 %`;
  return detectable.basis === "observed-spread"
    ? `At the observed spread this design would show ${shown}.`
    : `So few tasks differ that their spread says little; if an effect flips whole tasks, this design would show ${shown}.`;
}

/** What would decide, in one sentence; empty for a decided comparison. */
export function explainToDecide({ verdict, toDecide }: Pick<PairedAnalysis, "verdict" | "toDecide">): string {
  if (verdict === "better" || verdict === "worse") return "";
  const { tasks, repetitions } = toDecide;
  if (isUnknown(tasks) && isUnknown(repetitions) && tasks.detail === repetitions.detail) {
    return `What would decide is unknown: ${tasks.detail ?? tasks.unknown}.`;
  }
  return `If the difference and its spread stayed as observed, an 80 % chance of a verdict would need, in all, ${number(tasks, "tasks")}; or, with the same tasks, ${number(repetitions, "repetitions")}.`;
}

/** The result as whole sentences: difference, interval, verdict with reasons, what the design could show, and what the data cannot. */
export function explainResult(analysis: PairedAnalysis): string[] {
  const { difference, control, treatment, interval, verdict, reasons, minimumDetectable, statements } = analysis;
  const sentences: string[] = [];
  if (!isUnknown(difference) && !isUnknown(control) && !isUnknown(treatment)) {
    const range = isUnknown(interval)
      ? ` (no interval: ${interval.detail ?? interval.unknown})`
      : ` (${percent(interval.level)} interval ${points(interval.low)} to ${points(interval.high)})`;
    sentences.push(
      `Observed: control ${percent(control)}, treatment ${percent(treatment)}, paired difference ${points(difference)} points${range} over ${analysis.coverage.completeTasks} tasks.`,
    );
  }
  sentences.push(`Verdict: ${verdict}, because ${reasons.join("; ")}.`);
  sentences.push(explainDetectable(minimumDetectable));
  const more = explainToDecide(analysis);
  if (more !== "") sentences.push(more);
  return [...sentences, ...statements];
}
