/**
 * Exact McNemar test of paired yes/no results: `b` pairs improved, `c` worsened; two-sided binomial with probability one half, p = 1 when
 * nothing differs. In logarithms, so that counts in the thousands do not overflow. Valid for one pair a task only.
 */
export function mcnemarExact(b: number, c: number): number {
  for (const count of [b, c]) {
    if (!Number.isSafeInteger(count) || count < 0) throw new RangeError(`Expected a count from 0, got ${count}`);
  }
  const pairs = b + c;
  if (b === c) return 1;
  const fewer = Math.min(b, c);
  let logTerm = -pairs * Math.LN2;
  const logs: number[] = [logTerm];
  for (let k = 1; k <= fewer; k += 1) {
    logTerm += Math.log((pairs - k + 1) / k);
    logs.push(logTerm);
  }
  let scaled = 0;
  for (const log of logs) scaled += Math.exp(log - logTerm);
  return Math.min(1, Math.max(2 * scaled * Math.exp(logTerm), Number.MIN_VALUE));
}
