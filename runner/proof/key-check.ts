import { readFile } from "node:fs/promises";
import { RunnerError } from "../base/errors.ts";
import { SHORTEST_SECRET } from "./redact.ts";
import type { PreparedRun } from "./request.ts";
import type { Role } from "./terms.ts";

/**
 * Looks for the keys of a run in everything that the run would keep as it is: data, prompts and config. It comes before anything is written
 * or asked, since a key that is found at the end has been stored by then.
 * @throws RunnerError `SECRET_IN_INPUT` naming the file, never the key.
 */
export async function refuseKeysInInputs(run: PreparedRun, keys: ReadonlyMap<Role, string>): Promise<void> {
  const needles = [...new Set(keys.values())].filter((key) => key.length >= SHORTEST_SECRET).flatMap(forms);
  if (needles.length === 0) return;
  const { request } = run;
  const holds = (text: string | Buffer): boolean => needles.some((needle) => text.includes(needle));
  const found: string[] = [];
  if (holds(JSON.stringify(run.config))) found.push(request.config);
  // The rows show what escapes in the file hide, the bytes show members that no row keeps.
  if (holds(JSON.stringify(run.rows)) || holds(await readFile(request.data))) found.push(request.data);
  for (const [name, prompt] of Object.entries(run.protocol.prompts)) {
    if (holds(prompt.text)) found.push(request.prompts[name as keyof typeof request.prompts] ?? `the ${name} prompt`);
  }
  const [place] = found;
  if (place === undefined) return;
  throw new RunnerError("refused", "SECRET_IN_INPUT", `${place} contains the value of an API key of this run`, {
    hint: "Take it out: a run keeps its data, prompts and config. Nothing was written and no model was called.",
  });
}

/** A key as it is, and as JSON writes it. */
function forms(key: string): string[] {
  const escaped = JSON.stringify(key).slice(1, -1);
  return escaped === key ? [key] : [key, escaped];
}
