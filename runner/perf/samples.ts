import { isUnknown, type Known } from "../base/unknown.ts";
import { summariseSamples } from "../stats/quantiles.ts";

/** Raw samples of one measured thing, in microseconds, in the order they were taken; the first one is the cold one. */
export interface Series {
  readonly name: string;
  readonly micros: readonly number[];
}

/** One line of a benchmark: cold and warm figures of a series in milliseconds. */
export interface SeriesSummary {
  readonly name: string;
  readonly coldMillis: number;
  readonly warm: {
    readonly n: number;
    readonly medianMillis: number;
    /** Tails are unknown when there are too few samples to show one. */
    readonly p95Millis: Known<number>;
    readonly p99Millis: Known<number>;
  };
  readonly rawMicros: readonly number[];
}

/** Summarises a series; the first sample is cold, the rest are warm. */
export function summariseSeries({ name, micros }: Series): SeriesSummary {
  const [cold = 0, ...warm] = micros;
  const { median, p95, p99 } = summariseSamples(warm.length === 0 ? [cold] : warm);
  return {
    name,
    coldMillis: cold / 1000,
    warm: { n: warm.length, medianMillis: median / 1000, p95Millis: millis(p95), p99Millis: millis(p99) },
    rawMicros: micros,
  };
}

function millis(micros: Known<number>): Known<number> {
  return isUnknown(micros) ? micros : micros / 1000;
}

/** The ratio of two warm medians. */
export function medianRatio(measured: SeriesSummary, yardstick: SeriesSummary): number {
  return measured.warm.medianMillis / yardstick.warm.medianMillis;
}
