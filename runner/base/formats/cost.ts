import { isUnknown, type Known, unknown } from "../unknown.ts";
import type { Prices } from "./budgets.ts";
import type { Usage } from "./trace-events.ts";

/** What an answer costs by the study's prices; unknown when prices or a count that they need are not known. */
export function costOf(usage: Usage, prices: Prices | null): Known<number> {
  if (prices === null) return unknown("unavailable", "the study names no prices");
  const { input, output } = usage;
  const read = prices.cachedInput === null ? 0 : usage.cachedInput;
  const written = prices.cacheWriteInput === null ? 0 : usage.cacheWriteInput;
  if (isUnknown(input)) return input;
  if (isUnknown(output)) return output;
  if (isUnknown(read)) return read;
  if (isUnknown(written)) return written;
  const plain = Math.max(0, input - read - written);
  return (
    priceOf(plain, prices.input) +
    priceOf(read, prices.cachedInput ?? prices.input) +
    priceOf(written, prices.cacheWriteInput ?? prices.input) +
    priceOf(output, prices.output)
  );
}

/** Micro-dollars of some tokens, rounded up. */
export function priceOf(tokens: number, microUsdPerMTok: number): number {
  return Math.ceil((tokens * microUsdPerMTok) / 1_000_000);
}
