// The identity of the runner's source: used by the build, by bin/runner.js (is dist/ stale?) and by the evidence.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const ROOTS = ["runner", "images", "package.json", "package-lock.json"];

/** Lists the source files below `root` as sorted POSIX paths. */
export function sourceFiles(root) {
  const files = [];
  const walk = (relative) => {
    const path = join(root, relative);
    const info = statSync(path, { throwIfNoEntry: false });
    if (info === undefined) return;
    if (!info.isDirectory()) {
      files.push(relative);
      return;
    }
    for (const name of readdirSync(path)) {
      if (name !== "__pycache__") walk(`${relative}/${name}`);
    }
  };
  for (const entry of ROOTS) walk(entry);
  return files.sort();
}

/** sha256 over the sorted (path, executable bit, file digest) lines of the runner's source, as `sha256:<hex>`. */
export function sourceDigest(root) {
  const hash = createHash("sha256");
  for (const file of sourceFiles(root)) {
    const path = join(root, file);
    const executable = (statSync(path).mode & 0o111) !== 0 ? "x" : "-";
    const digest = createHash("sha256").update(readFileSync(path)).digest("hex");
    hash.update(`${JSON.stringify(file)} ${executable} ${digest}\n`);
  }
  return `sha256:${hash.digest("hex")}`;
}
