import type { Known } from "../base/unknown.ts";
import { isUnknown } from "../base/unknown.ts";

/**
 * Holm's step-down adjustment: the p-values to compare with alpha when all `values` belong to one family. Unknown values stay unknown and
 * still count in the family: a metric that could not be measured was nevertheless asked about.
 */
export function holm(values: readonly Known<number>[]): Known<number>[] {
  const order = values.flatMap((value, index) => (isUnknown(value) ? [] : [{ value, index }]));
  for (const { value } of order) {
    if (!(value >= 0 && value <= 1)) throw new RangeError(`Expected p-values from 0 to 1, got ${value}`);
  }
  order.sort((a, b) => a.value - b.value);
  const adjusted: Known<number>[] = [...values];
  let highest = 0;
  order.forEach(({ value, index }, rank) => {
    highest = Math.max(highest, Math.min(1, value * (values.length - rank)));
    adjusted[index] = highest;
  });
  return adjusted;
}
