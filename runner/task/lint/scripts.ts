import { basename } from "node:path";
import type { Found } from "./finding.ts";
import { isText, type TaskFile } from "./task-files.ts";

const ENTRIES = new Set(["test.sh", "solve.sh", "setup.sh"]);

/** Checks scripts: line ends, and the shebang that decides what runs an entry script. */
export function checkScripts(files: readonly TaskFile[]): readonly Found[] {
  return files.flatMap((entry) => {
    if (!isText(entry.bytes)) return [];
    const hasShebang = entry.bytes.subarray(0, 2).toString("latin1") === "#!";
    const isScript = entry.file.endsWith(".sh") || hasShebang;
    if (!isScript && basename(entry.file) !== "Dockerfile") return [];
    const found: Found[] = [];
    const crlf = entry.bytes.indexOf("\r\n");
    if (crlf !== -1) {
      found.push({
        level: isScript ? "error" : "warning",
        rule: "crlf",
        file: entry.file,
        line: entry.bytes.subarray(0, crlf).toString("latin1").split("\n").length,
        message: isScript
          ? "invalid_task: the script has CRLF line ends, which the shell takes for part of its commands and of the shebang"
          : "the file has CRLF line ends",
        hint: "Convert the file to LF; the runner never rewrites it, because that would change the digest.",
      });
    }
    const isEntry =
      entry.role !== "environment" && ENTRIES.has(basename(entry.relative)) && !entry.relative.includes("/");
    if (isEntry && !hasShebang) {
      found.push({
        level: "error",
        rule: "shebang",
        file: entry.file,
        line: 1,
        message: "the script has no shebang, and it is run directly",
        hint: 'Begin it with "#!/bin/bash".',
      });
    }
    return found;
  });
}
