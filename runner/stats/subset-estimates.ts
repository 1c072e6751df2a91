function requireCounts(total: number, successes: number, draws: number): void {
  const whole = [total, successes, draws].every(Number.isSafeInteger);
  if (!whole || successes < 0 || successes > total || draws < 1 || draws > total) {
    throw new RangeError(
      `Expected 0 <= successes <= total and 1 <= draws <= total, got ${successes} of ${total}, ${draws} drawn`,
    );
  }
}

/** The logarithm of the binomial coefficient, minus infinity where it is 0. */
function logChoose(n: number, k: number): number {
  if (k < 0 || k > n) return Number.NEGATIVE_INFINITY;
  let log = 0;
  for (let step = 1; step <= Math.min(k, n - k); step += 1) log += Math.log((n - step + 1) / step);
  return log;
}

/**
 * P(at least `threshold` successes) in a subset of `draws` of `total` results of which `successes` are successes: the unbiased estimate of
 * "at least t of R accept" for R = `draws` from a run with more repeats. Averaged over all subsets without drawing any.
 */
export function subsetAtLeast(total: number, successes: number, draws: number, threshold: number): number {
  requireCounts(total, successes, draws);
  if (threshold <= 0) return 1;
  const all = logChoose(total, draws);
  let probability = 0;
  for (let hit = Math.max(threshold, draws - (total - successes)); hit <= Math.min(draws, successes); hit += 1) {
    probability += Math.exp(logChoose(successes, hit) + logChoose(total - successes, draws - hit) - all);
  }
  return Math.min(1, probability);
}

/**
 * Unbiased pass@k of one problem: the share of k-subsets of its `total` samples with at least one of the `successes`,
 * 1 - C(total - successes, k) / C(total, k), as a product that cannot overflow (Chen et al., arXiv 2107.03374).
 */
export function passAtK(total: number, successes: number, k: number): number {
  requireCounts(total, successes, k);
  let none = 1;
  for (let step = 0; step < k; step += 1) none *= Math.max(0, total - successes - step) / (total - step);
  return 1 - none;
}

/**
 * The mean, over all `draws`-subsets of items that each succeed with their own independent probability, of P(at least one succeeds):
 * unbiased for "any of S samples accepted" when each sample's acceptance is itself an unbiased estimate.
 */
export function subsetAny(probabilities: readonly number[], draws: number): number {
  requireCounts(probabilities.length, 0, draws);
  // means[k] = mean over all k-subsets seen so far of the product of failure probabilities.
  const means = new Float64Array(draws + 1);
  means[0] = 1;
  probabilities.forEach((probability, index) => {
    if (!(probability >= 0 && probability <= 1)) throw new RangeError(`Expected a probability, got ${probability}`);
    const seen = index + 1;
    for (let k = Math.min(draws, seen); k >= 1; k -= 1) {
      const without = k <= index ? (means[k] as number) * ((seen - k) / seen) : 0;
      means[k] = without + (means[k - 1] as number) * (1 - probability) * (k / seen);
    }
  });
  return 1 - (means[draws] as number);
}
