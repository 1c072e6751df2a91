import { seededRandom } from "../base/random.ts";
import { type ClusterDraws, drawingClusters } from "../stats/cluster-bootstrap.ts";
import { loadExporters } from "./exports.ts";
import type { PreparedRun } from "./request.ts";
import { splitSeed } from "./summary.ts";
import { SPLITS } from "./terms.ts";
import { type DrawSource, drawNow } from "./uncertainty.ts";

/** What the end of a run needs and can be made before its replies are there. */
export interface WorkAhead extends Disposable {
  /** Draws for the bootstrap; those that are not ready are drawn when asked for. */
  readonly drawn: DrawSource;
}

/** Milliseconds until the first calls are on their way, and between two pieces of work. */
const FIRST = 20;
const BETWEEN = 2;

/**
 * Loads the libraries of the exports and draws the resamples of every split while the processor waits for replies, in pieces of about a
 * millisecond. Disposing stops it.
 */
export function startWorkAhead(run: PreparedRun): WorkAhead {
  const { seed, resamples } = run.request.analysis;
  const ready = new Map<string, ClusterDraws>();
  const left = SPLITS.map((split) => {
    const rows = run.rows.filter(({ domain }) => split === "all" || domain === split);
    const problems = new Set(rows.map(({ problem_id }) => problem_id)).size;
    const drawing = drawingClusters(problems, seededRandom(splitSeed(seed, split)), resamples);
    return { key: keyOf(problems, splitSeed(seed, split), resamples), drawing };
  });
  let loaded = false;
  const piece = (): void => {
    if (!loaded) {
      loaded = true;
      // A library that does not load is met again, and thrown, by the export that needs it.
      void loadExporters(run.request.exports).catch(() => undefined);
    } else {
      const [first] = left;
      if (first === undefined) return;
      const step = first.drawing.next();
      if (step.done === true) {
        ready.set(first.key, step.value);
        left.shift();
      }
    }
    timer = setTimeout(piece, BETWEEN);
  };
  let timer = setTimeout(piece, FIRST);
  return {
    drawn: (problems, from, count) => ready.get(keyOf(problems, from, count)) ?? drawNow(problems, from, count),
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}

function keyOf(problems: number, seed: string, resamples: number): string {
  return `${problems}/${resamples}/${seed}`;
}
