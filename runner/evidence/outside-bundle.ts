import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { hasCode, RunnerError } from "../base/errors.ts";
import { BUNDLE } from "./bundle.ts";

/**
 * Gives the real path of a file that has to lie outside of every bundle: what a run wrote proves nothing about itself.
 * @throws RunnerError `INSIDE_BUNDLE` for a path in a bundle, through links too; `NO_SUCH_FOLDER` when its folder is not there;
 * `NOT_A_FILE` when something else than a regular file has its name.
 */
export async function requireOutsideBundles(path: string, what: string): Promise<string> {
  const absolute = resolve(path);
  let folder: string;
  try {
    folder = await realpath(dirname(absolute));
  } catch (cause) {
    if (!hasCode(cause, "ENOENT")) throw cause;
    throw new RunnerError("usage", "NO_SUCH_FOLDER", `the folder of ${what}, ${dirname(absolute)}, does not exist`, {
      hint: "Make the folder first, or name another path.",
      cause,
    });
  }
  const real = join(folder, basename(absolute));
  const info = await stat(real);
  if (info !== null && !info.isFile()) {
    throw new RunnerError("usage", "NOT_A_FILE", `${what} ${real} is not a regular file`, {
      hint: "Name a regular file or one that does not exist yet; links are not followed.",
    });
  }
  for (let at = folder; ; at = dirname(at)) {
    if (await looksLikeBundle(at)) {
      throw new RunnerError("refused", "INSIDE_BUNDLE", `${what} ${real} lies inside the bundle ${at}`, {
        hint: "Name a path outside of every bundle: evidence cannot vouch for itself.",
      });
    }
    if (dirname(at) === at) return real;
  }
}

async function looksLikeBundle(folder: string): Promise<boolean> {
  const [report, ledger, objects] = await Promise.all(
    [BUNDLE.report, BUNDLE.ledger, "objects"].map((name) => stat(join(folder, name))),
  );
  // A run that was interrupted has no report yet.
  return objects?.isDirectory() === true && (report?.isFile() === true || ledger?.isFile() === true);
}

async function stat(path: string): Promise<Awaited<ReturnType<typeof lstat>> | null> {
  try {
    return await lstat(path);
  } catch (cause) {
    if (hasCode(cause, "ENOENT") || hasCode(cause, "ENOTDIR")) return null;
    throw cause;
  }
}
