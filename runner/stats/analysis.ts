import { digestBytes } from "../base/digest.ts";
import { seededRandom } from "../base/random.ts";
import type { Known } from "../base/unknown.ts";
import { unknown } from "../base/unknown.ts";
import type { Coverage, WorstCase } from "./coverage.ts";
import { measureCoverage, worstCase } from "./coverage.ts";
import type { DifferenceMoments, Differences } from "./differences.ts";
import { differenceMoments, exactDifferences } from "./differences.ts";
import { type MethodInterval, methodInterval } from "./method-interval.ts";
import type { PlannedPair, TaskOutcome, TaskRow } from "./pairs.ts";
import { completeScores, groupPairs, meanOf, taskTable } from "./pairs.ts";
import type { AnalysisPlan } from "./plan.ts";
import { checkPlan } from "./plan.ts";
import type { Detectable, ToDecide } from "./power.ts";
import { minimumDetectable, toDecide } from "./power.ts";
import type { SignFlip } from "./sign-flip.ts";
import { signFlipTest, tasksNeeded } from "./sign-flip.ts";
import { dataStatements } from "./statements.ts";
import type { Decision } from "./verdict.ts";
import { decide } from "./verdict.ts";
import { counted } from "./wording.ts";

/** The interval of the plan's method; its p-value only where the number of tasks allows a decision. */
export type PrimaryInterval = MethodInterval & { readonly level: number };

/** The test, and the seed when sign patterns had to be drawn. */
export interface PairedTest extends SignFlip {
  readonly seed?: string;
}

/** The analysis of one bounded metric (scores in [0, 1]) over planned pairs; differences are treatment minus control. */
export interface PairedAnalysis extends Decision {
  readonly plan: AnalysisPlan;
  readonly coverage: Coverage;
  readonly tasks: readonly TaskRow[];
  readonly outcomes: Readonly<Record<TaskOutcome, readonly string[]>>;
  /** Means over tasks of complete pairs. */
  readonly control: Known<number>;
  readonly treatment: Known<number>;
  readonly difference: Known<number>;
  readonly interval: Known<PrimaryInterval>;
  readonly test: Known<PairedTest>;
  /** Tasks whose difference is not 0. */
  readonly tasksThatDiffer: number;
  /** Tasks that must differ before the plan's level can be reached. */
  readonly tasksNeeded: number;
  readonly worstCase: Known<WorstCase>;
  readonly minimumDetectable: Known<Detectable>;
  readonly toDecide: ToDecide;
  /** What these data cannot show; never empty where a verdict is impossible. */
  readonly statements: readonly string[];
}

function intervalOf(plan: AnalysisPlan, differences: Differences, moments: DifferenceMoments): Known<PrimaryInterval> {
  if (moments.count < 2)
    return unknown("unavailable", "one task shows no spread between tasks, so there is no interval");
  const { p, ...interval } = methodInterval(plan, differences, moments);
  const level = 1 - plan.alpha;
  return p === undefined || moments.count < tasksNeeded(plan.alpha)
    ? { ...interval, level }
    : { ...interval, level, p };
}

/** The sign-flip test; the seed of drawn patterns is the hash of the differences. */
export function testOf(differences: Differences, alpha: number): Known<PairedTest> {
  const count = differences.units.length;
  const needed = tasksNeeded(alpha);
  if (count < needed) {
    return unknown(
      "unavailable",
      `${counted(count, "task")} cannot reach p <= ${alpha} whatever they show: at least ${needed} are needed`,
    );
  }
  const seed = digestBytes(JSON.stringify([...differences.units].sort((a, b) => a - b)));
  const test = signFlipTest(differences.units, seededRandom(seed));
  return test.method === "monte-carlo" ? { ...test, seed } : test;
}

function outcomesOf(rows: readonly TaskRow[]): PairedAnalysis["outcomes"] {
  const of = (outcome: TaskOutcome) => rows.filter((row) => row.outcome === outcome).map(({ task }) => task);
  return { won: of("won"), lost: of("lost"), "both-ways": of("both-ways"), tied: of("tied"), dropped: of("dropped") };
}

/**
 * Analyses planned pairs as the plan says: coverage, per-task table, mean difference, interval, exact test, worst-case bounds, what the
 * design could have shown, and the verdict. The task is the unit. Deterministic: the order of the pairs does not matter.
 * @throws RangeError for a pair given twice, a score outside [0, 1], or a plan that cannot be used.
 */
export function analysePairs(pairs: readonly PlannedPair[], plan: AnalysisPlan): PairedAnalysis {
  checkPlan(plan);
  const tasks = groupPairs(pairs);
  const scores = completeScores(tasks);
  for (const { task, control, treatment } of scores) {
    const outside = [...control, ...treatment].find((score) => score < 0 || score > 1);
    if (outside !== undefined) throw new RangeError(`Task ${task} has the score ${outside}: scores lie in [0, 1]`);
  }
  const coverage = measureCoverage(tasks);
  const rows = taskTable(tasks);
  const none = unknown("missing", "no pair is complete");
  const differences = exactDifferences(scores);
  const moments = differenceMoments(differences);
  const empty = scores.length === 0;
  const measured = {
    plan,
    coverage,
    tasks: rows,
    outcomes: outcomesOf(rows),
    control: empty ? none : meanOf(scores.map((task) => meanOf(task.control))),
    treatment: empty ? none : meanOf(scores.map((task) => meanOf(task.treatment))),
    difference: empty ? none : moments.mean,
    interval: empty ? none : intervalOf(plan, differences, moments),
    test: empty ? none : testOf(differences, plan.alpha),
    tasksThatDiffer: moments.nonZero,
    tasksNeeded: tasksNeeded(plan.alpha),
    worstCase: tasks.length === 0 ? none : worstCase(tasks, plan),
    minimumDetectable: minimumDetectable(moments, plan),
    toDecide: toDecide(scores, moments, plan),
  };
  return { ...measured, statements: dataStatements(measured), ...decide(measured) };
}
