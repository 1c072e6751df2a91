/** One instruction of a Dockerfile. */
export interface Instruction {
  /** Upper case. */
  readonly keyword: string;
  /** What follows the keyword, continuation lines joined by a space. */
  readonly text: string;
  /** First line, counted from 0, and the line after the last one, here-documents included. */
  readonly start: number;
  readonly end: number;
  readonly heredoc: boolean;
}

export interface Dockerfile {
  readonly lines: readonly string[];
  readonly instructions: readonly Instruction[];
  /** The frontend that a `# syntax=` line asks for. */
  readonly syntax: string | null;
}

const DIRECTIVE = /^#\s*([A-Za-z]+)\s*=\s*(.+?)\s*$/;
const HEREDOC = /<<-?(["']?)([A-Za-z_][A-Za-z0-9_]*)\1/g;
const WITH_HEREDOC = new Set(["RUN", "COPY", "ADD"]);

/** Splits a Dockerfile into instructions: parser directives, comments, continuation lines and here-documents as Docker reads them. */
export function parseDockerfile(text: string): Dockerfile {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  const directives = readDirectives(lines);
  const continuation = directives.get("escape") === "`" ? "`" : "\\";
  const instructions: Instruction[] = [];
  for (let at = 0; at < lines.length; ) {
    if (isSkipped(lines[at])) {
      at += 1;
      continue;
    }
    const instruction = readInstruction(lines, at, continuation);
    instructions.push(instruction);
    at = instruction.end;
  }
  return { lines, instructions, syntax: directives.get("syntax") ?? null };
}

function readDirectives(lines: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const line of lines) {
    const match = DIRECTIVE.exec(line);
    if (match?.[1] === undefined || match[2] === undefined) break;
    found.set(match[1].toLowerCase(), match[2]);
  }
  return found;
}

function isSkipped(line: string | undefined): boolean {
  return line === undefined || line.trim() === "" || line.trimStart().startsWith("#");
}

function readInstruction(lines: readonly string[], start: number, continuation: string): Instruction {
  const parts: string[] = [];
  let at = start;
  for (; at < lines.length; at += 1) {
    const line = lines[at];
    if (at > start && isSkipped(line)) continue;
    const trimmed = (line ?? "").trimEnd();
    const continued = trimmed.endsWith(continuation);
    parts.push((continued ? trimmed.slice(0, -1) : trimmed).trim());
    if (!continued) break;
  }
  const joined = parts.filter((part) => part !== "").join(" ");
  const space = joined.search(/\s/);
  const keyword = (space === -1 ? joined : joined.slice(0, space)).toUpperCase();
  const text = space === -1 ? "" : joined.slice(space).trim();
  const names = WITH_HEREDOC.has(keyword) ? [...text.matchAll(HEREDOC)].flatMap((match) => match[2] ?? []) : [];
  let end = Math.min(at + 1, lines.length);
  for (const name of names) {
    while (end < lines.length && lines[end]?.trim() !== name) end += 1;
    end = Math.min(end + 1, lines.length);
  }
  return { keyword, text, start, end, heredoc: names.length > 0 };
}

/** A FROM instruction, taken apart. */
export interface From {
  readonly reference: string;
  readonly platform: string | null;
  readonly stage: string | null;
}

/** Reads what follows FROM; variables stay as they are. */
export function parseFrom(text: string): From {
  const words = text.split(/\s+/);
  const platform = words[0]?.startsWith("--platform=") ? (words.shift() ?? "").slice("--platform=".length) : null;
  const reference = words[0] ?? "";
  const stage = words[1]?.toUpperCase() === "AS" ? (words[2] ?? null) : null;
  return { reference, platform, stage };
}

/** The default values of ARG instructions before the first FROM. */
export function globalArguments(dockerfile: Dockerfile): Map<string, string> {
  const found = new Map<string, string>();
  for (const instruction of dockerfile.instructions) {
    if (instruction.keyword === "FROM") break;
    if (instruction.keyword !== "ARG") continue;
    for (const match of instruction.text.matchAll(/([A-Za-z_][A-Za-z0-9_]*)(?:=("[^"]*"|'[^']*'|\S*))?/g)) {
      const [, name, value] = match;
      if (name !== undefined && value !== undefined) found.set(name, expand(unquote(value), found));
    }
  }
  return found;
}

/** Fills in `$NAME`, `${NAME}`, `${NAME:-default}` and `${NAME:+text}`. */
export function expand(text: string, values: ReadonlyMap<string, string>): string {
  return text.replaceAll(
    /\$(?:\{([A-Za-z_][A-Za-z0-9_]*)(?:(:?[-+])([^}]*))?\}|([A-Za-z_][A-Za-z0-9_]*))/g,
    (
      _whole,
      braced: string | undefined,
      operator: string | undefined,
      word: string | undefined,
      bare: string | undefined,
    ) => {
      const value = values.get(braced ?? bare ?? "") ?? "";
      if (operator?.endsWith("-")) return value === "" ? (word ?? "") : value;
      if (operator?.endsWith("+")) return value === "" ? "" : (word ?? "");
      return value;
    },
  );
}

function unquote(text: string): string {
  return /^(["']).*\1$/.test(text) ? text.slice(1, -1) : text;
}

const RUN_FLAG = /^--(?:mount|network|security|device)\b/;
const COPY_FLAG = /(?:^|\s)--(?:link|chmod|exclude|parents|checksum|keep-git-dir)\b/;

/** True when only BuildKit can build the file: here-documents, mounts and the newer flags. */
export function needsBuildKit(dockerfile: Dockerfile): boolean {
  return dockerfile.instructions.some(
    ({ keyword, text, heredoc }) =>
      heredoc ||
      (keyword === "RUN" && RUN_FLAG.test(text)) ||
      ((keyword === "COPY" || keyword === "ADD") && COPY_FLAG.test(text)),
  );
}
