import type { ExactJson } from "../json.ts";
import { isUnknown, type Known, sumKnown, type Unknown, unknown } from "../unknown.ts";
import type { ModelApi } from "./common.ts";
import { at, countAt } from "./json-access.ts";
import type { Usage } from "./trace-events.ts";

/** A usage in which nothing is known. */
export function unknownUsage(reason: Unknown): Usage {
  return { input: reason, cachedInput: reason, cacheWriteInput: reason, output: reason, reasoning: reason };
}

/** Adds usages up, member by member; one unknown makes a member's sum unknown. */
export function sumUsage(usages: readonly Usage[]): Usage {
  return {
    input: sumKnown(usages.map(({ input }) => input)),
    cachedInput: sumKnown(usages.map(({ cachedInput }) => cachedInput)),
    cacheWriteInput: sumKnown(usages.map(({ cacheWriteInput }) => cacheWriteInput)),
    output: sumKnown(usages.map(({ output }) => output)),
    reasoning: sumKnown(usages.map(({ reasoning }) => reasoning)),
  };
}

/** Reads an API's `usage` member into one meaning. Members that are not there, or no counts, are unknown. */
export function readUsage(api: ModelApi, usage: ExactJson | undefined): Usage {
  if (typeof usage !== "object" || usage === null) return unknownUsage(unknown("missing", "the answer has no usage"));
  const first = (...paths: readonly string[][]): Known<number> => {
    for (const path of paths) if (at(usage, ...path) !== undefined) return known(countAt(usage, ...path), path);
    return unknown("missing", `the usage has no ${paths.map((path) => path.join(".")).join(" or ")}`);
  };
  switch (api) {
    case "chat":
      return {
        input: first(["prompt_tokens"]),
        cachedInput: first(["prompt_tokens_details", "cached_tokens"], ["prompt_cache_hit_tokens"]),
        cacheWriteInput: orZero(first(["prompt_tokens_details", "cache_write_tokens"]), first(["prompt_tokens"])),
        output: first(["completion_tokens"]),
        reasoning: first(["completion_tokens_details", "reasoning_tokens"]),
      };
    case "responses":
      return {
        input: first(["input_tokens"]),
        cachedInput: first(["input_tokens_details", "cached_tokens"]),
        cacheWriteInput: orZero(first(["input_tokens_details", "cache_write_tokens"]), first(["input_tokens"])),
        output: first(["output_tokens"]),
        reasoning: first(["output_tokens_details", "reasoning_tokens"]),
      };
    case "messages": {
      const fresh = first(["input_tokens"]);
      const read = orZero(first(["cache_read_input_tokens"]), fresh);
      const written = orZero(first(["cache_creation_input_tokens"]), fresh);
      return {
        input: sumKnown([fresh, read, written]),
        cachedInput: read,
        cacheWriteInput: written,
        output: first(["output_tokens"]),
        reasoning: first(["output_tokens_details", "thinking_tokens"]),
      };
    }
  }
}

function known(count: number | undefined, path: readonly string[]): Known<number> {
  return count ?? unknown("unavailable", `usage.${path.join(".")} is not a count`);
}

/** APIs leave this member out when nothing of the kind was billed; that is a zero only beside a usage that is there. */
function orZero(value: Known<number>, input: Known<number>): Known<number> {
  return isUnknown(value) && value.unknown === "missing" && !isUnknown(input) ? 0 : value;
}
