import type { Ledger, LedgerLine } from "../evidence/ledger.ts";

/**
 * Appends a line for every attempt that was started and neither sealed nor marked, and one for the run when it was not closed. Doing it
 * again changes nothing. Returns how many attempts were marked.
 */
export async function markCutOff(ledger: Pick<Ledger, "append">, lines: readonly LedgerLine[]): Promise<number> {
  const open = new Map<string, { number: number; attempt: number }>();
  for (const { event } of lines) {
    if (typeof event.number !== "number" || typeof event.attempt !== "number") continue;
    const key = `${event.number} ${event.attempt}`;
    if (event.type === "trial-started") open.set(key, { number: event.number, attempt: event.attempt });
    else open.delete(key);
  }
  for (const { number, attempt } of open.values())
    await ledger.append({ type: "trial-interrupted", number, attempt, cause: "the runner's process ended" });
  const last = lines.at(-1)?.event.type;
  if (last !== undefined && last !== "run-closed" && (last !== "run-cut-off" || open.size > 0))
    await ledger.append({ type: "run-cut-off" });
  return open.size;
}
