#!/usr/bin/env node
// Starts the built command line, and refuses a build that is older than the sources: evidence binds the source that ran.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { sourceDigest } from "../scripts/source-digest.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const entry = join(root, "dist", "cli.mjs");
const stamp = join(root, "dist", "source-digest");

if (!existsSync(entry) || !existsSync(stamp)) {
  process.stderr.write("runner: dist/ is missing, so there is nothing to run. Run `npm ci` (or `npm run build`).\n");
  process.exit(2);
}
if (readFileSync(stamp, "utf8").trim() !== sourceDigest(root)) {
  process.stderr.write("runner: dist/ was built from other sources than those on disk. Run `npm run build`.\n");
  process.exit(2);
}
await import(entry);
