import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { execa } from "execa";
import { RunnerError } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import { type Known, unknown } from "../base/unknown.ts";

/** What made the results. */
export interface EvaluatorSource {
  readonly version: string;
  /** Tree digest of the evaluator's source as on disk. */
  readonly digest: string;
  readonly commit: Known<string>;
  /** True when the files differ from that commit. */
  readonly dirty: Known<boolean>;
}

/** The folder of the installed project: the nearest one above this module whose package file names it. */
export function projectRoot(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const file = join(folder, "package.json");
    if (existsSync(file) && nameOf(file) === "jacobian-runner") return folder;
    if (dirname(folder) === folder) {
      throw new RunnerError("environment", "PROJECT_MISSING", "the runner's own package.json is not above its code", {
        hint: "Install the whole project again: data, prompts and scripts lie beside the code.",
      });
    }
  }
}

function nameOf(file: string): unknown {
  const value: unknown = JSON.parse(readFileSync(file, "utf8"));
  return isObject(value) ? value.name : undefined;
}

/** Identifies the evaluator: version, digest of the sources, and the commit where there is a checkout. */
export async function evaluatorSource(root: string = projectRoot()): Promise<EvaluatorSource> {
  const manifest: unknown = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  // The script is what the build and the launcher use too, so that all three speak of one digest.
  const script: unknown = await import(pathToFileURL(join(root, "scripts", "source-digest.mjs")).href);
  if (!isObject(script) || typeof script.sourceDigest !== "function") {
    throw new RunnerError("environment", "PROJECT_BROKEN", `${root}/scripts/source-digest.mjs exports no sourceDigest`);
  }
  const git = async (...args: string[]): Promise<Known<string>> => {
    const result = await execa("git", args, { cwd: root, reject: false });
    return result.exitCode === 0 ? result.stdout : unknown("unavailable", "the project is not in a Git checkout");
  };
  const status = await git("status", "--porcelain", "--", "runner", "images", "package.json", "package-lock.json");
  return {
    version: isObject(manifest) && typeof manifest.version === "string" ? manifest.version : "0.0.0",
    digest: String(script.sourceDigest(root)),
    commit: await git("rev-parse", "HEAD"),
    dirty: typeof status === "string" ? status !== "" : status,
  };
}
