/** A share as a percentage: at most one decimal. */
export function percent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}

/** A difference of scores in points of 100, signed, one decimal: never a relative percentage. */
export function points(difference: number): string {
  const text = Math.abs(difference * 100).toFixed(1);
  if (text === "0.0") return "0.0";
  return `${difference < 0 ? "-" : "+"}${text}`;
}

/** A size in points of 100, without sign, one decimal. */
export function sizeInPoints(size: number): string {
  return Math.abs(size * 100).toFixed(1);
}

/** "1 task", "2 tasks". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
