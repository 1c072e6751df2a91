import { basename, dirname, join } from "node:path";
import { isDirectory, typeOf } from "./files.ts";
import type { Join, Layout, RunnerMetadata } from "./model.ts";
import type { Problem } from "./toml.ts";

/** Where the parts of a task lie. Folders that do not exist are named all the same; the loader looks before it reads. */
export interface TaskPlaces {
  readonly layout: Layout;
  readonly testsDir: string;
  readonly solutionDir: string;
  readonly trapsDir: string;
}

/**
 * Finds the hidden parts. A task without `tests/`, `solution/` and `steps/` of its own, in a dataset with a sibling `verifiers/` folder, has
 * the split layout: `../verifiers/<id>`, `../oracle/<id>` and `../oracle/<id>/traps`.
 */
export async function findPlaces(dir: string): Promise<TaskPlaces> {
  const own = await Promise.all(["tests", "solution", "steps"].map((name) => isDirectory(join(dir, name))));
  const root = dirname(dirname(dir));
  if (!own.includes(true) && (await isDirectory(join(root, "verifiers")))) {
    const id = basename(dir);
    return {
      layout: "split",
      testsDir: join(root, "verifiers", id),
      solutionDir: join(root, "oracle", id),
      trapsDir: join(root, "oracle", id, "traps"),
    };
  }
  return {
    layout: "bundle",
    testsDir: join(dir, "tests"),
    solutionDir: join(dir, "solution"),
    trapsDir: join(dir, "traps"),
  };
}

/** Lists the shared folders and formats that `[metadata.runner]` names, each of which must exist. */
export async function resolveJoins(
  dir: string,
  places: TaskPlaces,
  runner: RunnerMetadata,
  report: (key: string, message: string) => void,
): Promise<readonly Join[]> {
  const root = dirname(dirname(dir));
  const wanted: { key: string; join: Join }[] = [
    ...runner.verifierShared.map((name) => ({
      key: "verifier_shared",
      join: { into: "tests" as const, at: `shared/${name}`, from: join(root, "verifiers", "shared", name) },
    })),
    ...runner.oracleShared.map((name) => ({
      key: "oracle_shared",
      join: { into: "solution" as const, at: `shared/${name}`, from: join(root, "oracle", "shared", name) },
    })),
    ...runner.formats.flatMap((name) =>
      (["tests", "solution"] as const).map((into) => ({
        key: "formats",
        join: { into, at: `formats/${name}`, from: join(dirname(dir), "formats", name) },
      })),
    ),
  ];
  if (wanted.length > 0 && places.layout === "bundle") {
    report("verifier_shared", "shared code belongs to the split layout; a bundle holds its files inside");
    return [];
  }
  const missing = new Set<string>();
  for (const { key, join: entry } of wanted) {
    const type = await typeOf(entry.from);
    if (type === "directory" || (type === "file" && key === "formats")) continue;
    const message = `${entry.from} is ${type === "absent" ? "not there" : `a ${type}, not a folder`}`;
    if (!missing.has(message)) report(key, message);
    missing.add(message);
  }
  return wanted.map((entry) => entry.join);
}

/** A problem without a place in its file. */
export function problemAt(file: string, message: string): Problem {
  return { file, place: null, message };
}
