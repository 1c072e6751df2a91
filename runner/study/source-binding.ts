import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { type Digest, isDigest } from "../base/digest.ts";
import { RunnerError } from "../base/errors.ts";
import { type Known, unknown } from "../base/unknown.ts";

/** Which source of the runner ran. */
export interface SourceBinding {
  readonly version: string;
  /** Digest of the sources that the running build was made from. */
  readonly digest: Digest;
  readonly commit: Known<string>;
  /** True when the working tree differs from the commit. */
  readonly dirty: Known<boolean>;
}

/** Reads the identity of the running source; the build's stamp was held against the files on disk when the program started. */
export async function bindSource(projectRoot: string): Promise<SourceBinding> {
  const [stamp, manifest] = await Promise.all([
    readFile(join(projectRoot, "dist", "source-digest"), "utf8"),
    readFile(join(projectRoot, "package.json"), "utf8"),
  ]);
  const digest = stamp.trim();
  if (!isDigest(digest)) {
    throw new RunnerError("integrity", "SOURCE_UNKNOWN", `dist/source-digest holds ${JSON.stringify(digest)}`, {
      hint: "Run `npm run build`.",
    });
  }
  const git = (...args: string[]) => execa("git", ["-C", projectRoot, ...args], { reject: false });
  const [commit, status] = await Promise.all([
    git("rev-parse", "HEAD"),
    git("status", "--porcelain", "--", "runner", "images", "package.json", "package-lock.json"),
  ]);
  const none = unknown("unavailable", "the runner's folder is no Git checkout");
  return {
    version: JSON.parse(manifest).version,
    digest,
    commit: commit.exitCode === 0 ? commit.stdout.trim() : none,
    dirty: status.exitCode === 0 ? status.stdout.trim() !== "" : none,
  };
}
