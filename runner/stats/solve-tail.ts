/**
 * The point t >= 0 where a decreasing upper tail equals `probability` (0 < probability <= tail(0)): Newton's method on the logarithm of
 * the tail, kept inside a bracket by bisection.
 */
export function solveTail(
  tail: (point: number) => number,
  density: (point: number) => number,
  probability: number,
): number {
  let low = 0;
  let high = 1;
  while (tail(high) > probability) {
    low = high;
    high *= 2;
  }
  let point = (low + high) / 2;
  for (let step = 0; step < 200; step += 1) {
    const value = tail(point);
    if (value === probability) return point;
    if (value > probability) low = point;
    else high = point;
    const newton = point + (Math.log(value / probability) * value) / density(point);
    const next = newton > low && newton < high ? newton : (low + high) / 2;
    if (Math.abs(next - point) <= 1e-15 * Math.max(1, point)) return next;
    point = next;
  }
  return point;
}
