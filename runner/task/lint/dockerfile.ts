/** One instruction of a Dockerfile with its continuation lines joined. */
export interface DockerInstruction {
  readonly keyword: string;
  readonly args: string;
  /** 1-based line where it starts. */
  readonly line: number;
}

/** Splits a Dockerfile into instructions; comments are dropped and heredoc bodies are skipped. */
export function parseDockerfile(text: string): readonly DockerInstruction[] {
  const continuation = /^#\s*escape\s*=\s*`/im.test(text.slice(0, 200)) ? "`" : "\\";
  const instructions: DockerInstruction[] = [];
  const lines = text.split(/\r?\n/);
  for (let index = 0; index < lines.length; index += 1) {
    const start = index;
    let current = lines[index] ?? "";
    if (current.trim() === "" || current.trimStart().startsWith("#")) continue;
    let joined = "";
    for (;;) {
      const trimmed = current.trimEnd();
      if (!trimmed.endsWith(continuation)) {
        joined += trimmed;
        break;
      }
      joined += `${trimmed.slice(0, -1)} `;
      do index += 1;
      while ((lines[index] ?? "").trimStart().startsWith("#"));
      if (index >= lines.length) break;
      current = lines[index] ?? "";
    }
    const match = /^\s*([A-Za-z]+)\s+(.*)$/s.exec(joined);
    if (match === null) continue;
    const keyword = (match[1] ?? "").toUpperCase();
    instructions.push({ keyword, args: (match[2] ?? "").trim(), line: start + 1 });
    const heredocs = ["RUN", "COPY", "ADD"].includes(keyword)
      ? [...joined.matchAll(/<<-?\s*["']?([A-Za-z_][A-Za-z0-9_]*)["']?/g)]
      : [];
    for (const heredoc of heredocs) {
      do index += 1;
      while (index < lines.length && (lines[index] ?? "").trim() !== heredoc[1]);
    }
  }
  return instructions;
}

/** An image that a Dockerfile takes from outside. */
export interface BaseReference {
  /** The reference with known ARG defaults filled in. */
  readonly reference: string;
  readonly line: number;
}

/** Every image named by FROM or `COPY --from` that is not a stage of the same file and not `scratch`. */
export function externalImages(text: string): readonly BaseReference[] {
  const args = new Map<string, string>();
  const stages = new Set<string>();
  const found: BaseReference[] = [];
  let stageCount = 0;
  for (const { keyword, args: rest, line } of parseDockerfile(text)) {
    if (keyword === "ARG" && stageCount === 0) {
      const match = /^([A-Za-z_][A-Za-z0-9_]*)(?:=(.*))?$/.exec(rest);
      if (match !== null) args.set(match[1] ?? "", (match[2] ?? "").replace(/^(["'])(.*)\1$/, "$2"));
    } else if (keyword === "FROM") {
      const words = rest.split(/\s+/).filter((word) => !word.startsWith("--"));
      const reference = substitute(words[0] ?? "", args);
      if (reference !== "scratch" && !stages.has(reference.toLowerCase())) found.push({ reference, line });
      if (words[1]?.toLowerCase() === "as" && words[2] !== undefined) stages.add(words[2].toLowerCase());
      stageCount += 1;
    } else if (keyword === "COPY" || keyword === "RUN") {
      for (const match of rest.matchAll(/(?:^|\s)--(?:from=|mount=\S*?\bfrom=)([^\s,]+)/g)) {
        const reference = substitute(match[1] ?? "", args);
        const isStage =
          stages.has(reference.toLowerCase()) || (/^\d+$/.test(reference) && Number(reference) < stageCount);
        if (!isStage) found.push({ reference, line });
      }
    }
  }
  return found;
}

function substitute(text: string, args: ReadonlyMap<string, string>): string {
  return text.replace(
    /\$(?:\{([A-Za-z_][A-Za-z0-9_]*)(?::?-([^}]*))?\}|([A-Za-z_][A-Za-z0-9_]*))/g,
    (whole, braced, fallback, bare) => {
      const value = args.get(braced ?? bare);
      return value !== undefined && value !== "" ? value : (fallback ?? value ?? whole);
    },
  );
}

/** True when a reference binds bytes: a digest, or one of the project's own images, which the runner builds from pins and uses by id. */
export function isPinned(reference: string): boolean {
  return (
    /@sha256:[0-9a-f]{64}$/.test(reference) ||
    /^jacobian-runner\/[a-z0-9][a-z0-9._-]*(?::[A-Za-z0-9._-]+)?$/.test(reference)
  );
}
