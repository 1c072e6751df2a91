/**
 * The value of rank `rank` (0 = smallest) of the first `count` values; reorders `values`. Hoare's selection, average cost linear.
 * No value may be NaN.
 */
export function selectRank(values: Float64Array, rank: number, count = values.length): number {
  if (!Number.isInteger(rank) || rank < 0 || rank >= count || count > values.length) {
    throw new RangeError(`Expected a rank from 0 to ${count - 1}, got ${rank}`);
  }
  let low = 0;
  let high = count - 1;
  while (low < high) {
    const pivot = values[(low + high) >>> 1] as number;
    let left = low;
    let right = high;
    while (left <= right) {
      while ((values[left] as number) < pivot) left += 1;
      while ((values[right] as number) > pivot) right -= 1;
      if (left <= right) {
        const held = values[left] as number;
        values[left] = values[right] as number;
        values[right] = held;
        left += 1;
        right -= 1;
      }
    }
    if (rank <= right) high = right;
    else if (rank >= left) low = left;
    else break;
  }
  return values[rank] as number;
}
