import { posix } from "node:path";

interface Pattern {
  readonly expression: RegExp;
  /** True for a line that starts with `!`. */
  readonly keeps: boolean;
}

/**
 * Reads a `.dockerignore` file as Docker does: patterns are rooted at the context, `*` stays within one name, `**` does not, `!` takes a
 * path back in, the last pattern that fits decides, and what fits a folder fits everything below it.
 * @returns A function that is true for a path (relative, POSIX) to leave out.
 */
export function parseDockerIgnore(text: string): (path: string) => boolean {
  const patterns = text
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .filter((line) => !line.startsWith("#"))
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .map(toPattern)
    .filter((pattern) => pattern !== null);
  return (path) => {
    const candidates = path.split("/").map((_, index, parts) => parts.slice(0, index + 1).join("/"));
    let ignored = false;
    for (const { expression, keeps } of patterns) {
      // A pattern that could not change the answer is not looked at, so a `!` only ever takes back what was left out.
      if (keeps !== ignored) continue;
      if (candidates.some((candidate) => expression.test(candidate))) ignored = !keeps;
    }
    return ignored;
  };
}

function toPattern(line: string): Pattern | null {
  const keeps = line.startsWith("!");
  const cleaned = posix.normalize((keeps ? line.slice(1) : line).trim()).replace(/^\/+|\/+$/g, "");
  if (cleaned === "" || cleaned === ".") return null;
  return { expression: new RegExp(`^${toExpression(cleaned)}$`, "u"), keeps };
}

function toExpression(pattern: string): string {
  let out = "";
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern[at] ?? "";
    if (char === "*" && pattern[at + 1] === "*") {
      at += 1;
      const slash = pattern[at + 1] === "/";
      if (slash) at += 1;
      out += slash ? "(?:.*/)?" : ".*";
    } else if (char === "*") out += "[^/]*";
    else if (char === "?") out += "[^/]";
    else if (char === "[") {
      const close = pattern.indexOf("]", at + 2);
      if (close === -1) out += "\\[";
      else {
        const body = pattern
          .slice(at + 1, close)
          .replaceAll("\\", "\\\\")
          .replaceAll("[", "\\[");
        out += `[${body}]`;
        at = close;
      }
    } else if (char === "\\" && at + 1 < pattern.length) {
      at += 1;
      out += quoted(pattern[at] ?? "");
    } else out += quoted(char);
  }
  return out;
}

function quoted(char: string): string {
  return /[\\^$.*+?()[\]{}|/-]/.test(char) && char !== "-" ? `\\${char}` : char;
}
