import type { z } from "zod";
import { RunnerError } from "./errors.ts";

/**
 * Checks a value against a schema and reports every problem in one error that names the file and each place.
 * @throws RunnerError `INPUT_INVALID`.
 */
export function parseInput<T>(schema: z.ZodType<T>, value: unknown, source: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) => {
    const place = issue.path.length === 0 ? "the root" : issue.path.map(String).join(".");
    const seen = describe(valueAt(value, issue.path));
    return `${place}: ${issue.message}${seen === undefined ? "" : `, got ${seen}`}`;
  });
  throw new RunnerError("input", "INPUT_INVALID", `${source}: ${problems.join("; ")}`, {
    hint: "Correct the named places; nothing was started.",
    details: { problems },
  });
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let current: unknown = value;
  for (const key of path) {
    if (typeof current !== "object" || current === null) return undefined;
    current = Reflect.get(current, key);
  }
  return current;
}

function describe(value: unknown): string | undefined {
  if (value === undefined || (typeof value === "object" && value !== null)) return undefined;
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
