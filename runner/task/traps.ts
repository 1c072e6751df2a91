import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { messageOf } from "../base/errors.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import { isDirectory, isFile, listFolder } from "./files.ts";
import { problemAt } from "./layout.ts";
import type { Trap } from "./model.ts";
import type { Problem } from "./toml.ts";

const declaration = z.strictObject({
  fails: z.string().min(1, "expected the id of the check that must fail"),
  why: z.string().min(1, "expected one sentence that says why it is wrong"),
});

/** Reads every folder of `traps/`; each holds a `trap.json` and either a `solve.sh` or an `artifacts/` tree. */
export async function readTraps(
  dir: string,
): Promise<{ readonly traps: readonly Trap[]; readonly problems: readonly Problem[] }> {
  const traps: Trap[] = [];
  const problems: Problem[] = [];
  for (const entry of await listFolder(dir)) {
    if (!entry.isDirectory() || entry.name === "__pycache__") continue;
    const folder = join(dir, entry.name);
    const result = await readTrap(folder, entry.name);
    if ("trap" in result) traps.push(result.trap);
    else problems.push(result.problem);
  }
  return { traps, problems };
}

async function readTrap(dir: string, name: string): Promise<{ readonly trap: Trap } | { readonly problem: Problem }> {
  const file = join(dir, "trap.json");
  if (!(await isFile(file)))
    return { problem: problemAt(file, 'there is no such file; write {"fails": "<check id>", "why": "..."}') };
  try {
    const source = "trap.json";
    const { fails, why } = parseInput(declaration, parseStrictJson(await readFile(file), { source }), source);
    const solve = await isFile(join(dir, "solve.sh"));
    const artifacts = await isDirectory(join(dir, "artifacts"));
    if (solve === artifacts) {
      const seen = solve ? "both" : "neither";
      return { problem: problemAt(dir, `a trap has either solve.sh or an artifacts/ folder; this one has ${seen}`) };
    }
    return { trap: { name, dir, fails, why, kind: solve ? "solve" : "artifacts" } };
  } catch (thrown) {
    return { problem: problemAt(file, messageOf(thrown)) };
  }
}
