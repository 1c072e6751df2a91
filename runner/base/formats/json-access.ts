import type { ExactJson } from "../json.ts";

/** The value at a path of keys and indices, or undefined when any step is not there. Only own members count. */
export function at(value: ExactJson | undefined, ...path: readonly (string | number)[]): ExactJson | undefined {
  let current: ExactJson | undefined = value;
  for (const step of path) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, step)) return undefined;
    current = Reflect.get(current, step) as ExactJson;
  }
  return current;
}

export function textAt(value: ExactJson | undefined, ...path: readonly (string | number)[]): string | undefined {
  const found = at(value, ...path);
  return typeof found === "string" ? found : undefined;
}

/** The list at a path; an empty one when there is none. */
export function listAt(value: ExactJson | undefined, ...path: readonly (string | number)[]): readonly ExactJson[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** The non-negative safe integer at a path. */
export function countAt(value: ExactJson | undefined, ...path: readonly (string | number)[]): number | undefined {
  const found = at(value, ...path);
  return typeof found === "number" && Number.isSafeInteger(found) && found >= 0 ? found : undefined;
}

/** The steps of a JSON pointer (RFC 6901). */
export function pointerSteps(pointer: string): string[] {
  if (pointer === "") return [];
  return pointer
    .slice(1)
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}
