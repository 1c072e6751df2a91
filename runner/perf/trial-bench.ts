import type { Clock } from "../base/clock.ts";
import { gatewayPlan } from "../trial/gateway-plan.ts";
import { type GatewaySet, openGatewaySet } from "../trial/gateway-set.ts";
import type { TrialRecord } from "../trial/record.ts";
import { runTrial } from "../trial/run-trial.ts";
import type { TrialSpec } from "../trial/spec.ts";
import type { TrialWorld } from "../trial/world.ts";
import { bareModelTrial } from "./bare-model-trial.ts";
import { bareTrial } from "./bare-trial.ts";
import { medianRatio, type SeriesSummary, summariseSeries } from "./samples.ts";

/** What `runner bench trial` measured. Times are wall times of whole trials. */
export interface TrialBench {
  readonly noNetwork: { readonly trial: SeriesSummary; readonly bare: SeriesSummary; readonly ratio: number };
  readonly treatment: { readonly trial: SeriesSummary; readonly bare: SeriesSummary; readonly ratio: number };
  /** Trials per second at concurrency 4. */
  readonly throughput: {
    readonly concurrency: number;
    readonly trial: number;
    readonly bare: number;
    readonly ratio: number;
  };
}

export interface TrialBenchInput {
  readonly world: TrialWorld;
  /** Agent nop, separate verifier, no network. */
  readonly nop: TrialSpec;
  /** Agent toolloop under the treatment, answered by a cassette; a fresh specification for each call. */
  readonly treatment: (number: number) => TrialSpec;
  readonly trials: number;
  readonly report: (line: string) => void;
  readonly signal: AbortSignal;
}

const CONCURRENCY = 4;

/** Measures trials and their yardsticks in turn, so that a drift of the machine falls on both alike. */
export async function benchTrials(input: TrialBenchInput): Promise<TrialBench> {
  const { world, trials, report, signal } = input;
  const { clock } = world;
  report(`${trials} trials without network and ${trials} bare ones, in turn`);
  const plain = await inTurn(trials, clock, signal, {
    trial: (number) => scored(runTrial(world, { ...input.nop, number }, null, signal)),
    bare: () => bareTrial(world, input.nop),
  });
  report(`${trials} treatment trials and ${trials} bare ones, in turn, gateway and server started ahead`);
  const treated = await benchTreatment(input);
  report(`throughput at concurrency ${CONCURRENCY}`);
  const perSecond = async (work: (number: number) => Promise<unknown>): Promise<number> => {
    let next = 0;
    const from = clock.micros();
    await Promise.all(
      Array.from({ length: CONCURRENCY }, async () => {
        while (next < trials * 2) {
          next += 1;
          signal.throwIfAborted();
          await work(next);
        }
      }),
    );
    return (trials * 2) / ((clock.micros() - from) / 1e6);
  };
  const trial = await perSecond((number) => scored(runTrial(world, { ...input.nop, number }, null, signal)));
  const bare = await perSecond(() => bareTrial(world, input.nop));
  return {
    noNetwork: { ...plain, ratio: medianRatio(plain.trial, plain.bare) },
    treatment: { ...treated, ratio: medianRatio(treated.trial, treated.bare) },
    throughput: { concurrency: CONCURRENCY, trial, bare, ratio: trial / bare },
  };
}

async function benchTreatment({ world, treatment, trials, signal }: TrialBenchInput) {
  let number = 0;
  const warm = async (): Promise<{ spec: TrialSpec; set: GatewaySet }> => {
    number += 1;
    const spec = treatment(number);
    return { spec, set: await openGatewaySet(world, gatewayPlan(world.runId, spec), signal) };
  };
  return inTurn(trials, world.clock, signal, {
    prepare: warm,
    trial: (_number, ready) => scored(runTrial(world, ready.spec, async () => ready.set, signal)),
    bare: async (_number, ready) => {
      await using set = ready.set;
      await bareModelTrial(world, ready.spec, set);
    },
  });
}

interface Turn<T> {
  readonly prepare?: () => Promise<T>;
  readonly trial: (number: number, ready: T) => Promise<unknown>;
  readonly bare: (number: number, ready: T) => Promise<unknown>;
}

async function inTurn<T>(
  trials: number,
  clock: Clock,
  signal: AbortSignal,
  turn: Turn<T>,
): Promise<{ trial: SeriesSummary; bare: SeriesSummary }> {
  const micros: { trial: number[]; bare: number[] } = { trial: [], bare: [] };
  for (let number = 1; number <= trials; number += 1) {
    for (const kind of number % 2 === 0 ? (["trial", "bare"] as const) : (["bare", "trial"] as const)) {
      signal.throwIfAborted();
      const ready = (await turn.prepare?.()) as T;
      const from = clock.micros();
      await turn[kind](number, ready);
      micros[kind].push(clock.micros() - from);
    }
  }
  return {
    trial: summariseSeries({ name: "trial", micros: micros.trial }),
    bare: summariseSeries({ name: "bare", micros: micros.bare }),
  };
}

/** A benchmark of failures would measure nothing. */
async function scored(trial: Promise<TrialRecord>): Promise<void> {
  const record = await trial;
  if (record.outcome !== "scored") throw new Error(`the trial ended as ${record.outcome}: ${record.cause?.detail}`);
}
