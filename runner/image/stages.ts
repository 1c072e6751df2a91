import { RunnerError } from "../base/errors.ts";
import { type Dockerfile, expand, globalArguments, type Instruction, parseFrom } from "./dockerfile.ts";

/** One use of an image that the Dockerfile does not build itself. */
export interface BaseUse {
  readonly instruction: Instruction;
  /** The reference, variables filled in. */
  readonly reference: string;
  readonly stage: string | null;
  /** True when the stage runs commands. */
  readonly runs: boolean;
  /** False for a FROM that names an earlier stage or `scratch`. */
  readonly external: boolean;
  /** FROM, or the `--from` of a COPY. */
  readonly kind: "from" | "copy";
}

const PLATFORMS = new Set(["linux/amd64", "linux/x86_64", "linux/amd64/v1", "amd64"]);

/**
 * Every FROM and every `COPY --from` of a Dockerfile, in order.
 * @throws RunnerError `DOCKERFILE_INVALID` without FROM or with an empty reference; `PLATFORM_UNSUPPORTED` for other platforms.
 */
export function baseUses(
  dockerfile: Dockerfile,
  source: string,
  buildArguments: Readonly<Record<string, string>>,
): BaseUse[] {
  const values = globalArguments(dockerfile);
  for (const [name, value] of Object.entries(buildArguments)) if (values.has(name)) values.set(name, value);
  for (const name of ["BUILDPLATFORM", "TARGETPLATFORM"]) values.set(name, "linux/amd64");
  const stages = new Set<string>();
  const uses: BaseUse[] = [];
  let count = 0;
  for (const instruction of dockerfile.instructions) {
    if (instruction.keyword === "FROM") {
      const from = parseFrom(instruction.text);
      const reference = expand(from.reference, values);
      const where = `${source}, line ${instruction.start + 1}`;
      if (reference === "") throw invalid(`${where}: FROM ${instruction.text} names no image`);
      checkPlatform(from.platform === null ? null : expand(from.platform, values), where);
      const external = reference !== "scratch" && !stages.has(reference.toLowerCase());
      uses.push({
        instruction,
        reference,
        stage: from.stage,
        runs: runsCommands(dockerfile, instruction),
        external,
        kind: "from",
      });
      if (from.stage !== null) stages.add(from.stage.toLowerCase());
      stages.add(String(count));
      count += 1;
    } else if (instruction.keyword === "COPY") {
      const from = /(?:^|\s)--from=(\S+)/.exec(instruction.text)?.[1];
      if (from === undefined || from.includes("$")) continue;
      const external = !stages.has(from.toLowerCase());
      uses.push({ instruction, reference: from, stage: null, runs: false, external, kind: "copy" });
    }
  }
  if (count === 0) throw invalid(`${source}: there is no FROM instruction`);
  return uses;
}

function runsCommands(dockerfile: Dockerfile, from: Instruction): boolean {
  const after = dockerfile.instructions.slice(dockerfile.instructions.indexOf(from) + 1);
  const next = after.findIndex((instruction) => instruction.keyword === "FROM");
  return after.slice(0, next === -1 ? after.length : next).some((instruction) => instruction.keyword === "RUN");
}

function checkPlatform(platform: string | null, where: string): void {
  if (platform === null || platform === "" || PLATFORMS.has(platform)) return;
  throw new RunnerError("input", "PLATFORM_UNSUPPORTED", `${where}: the platform ${platform} cannot run here`, {
    hint: "Trials run on linux/amd64.",
  });
}

function invalid(problem: string): RunnerError {
  return new RunnerError("input", "DOCKERFILE_INVALID", problem, {
    hint: "Correct the Dockerfile; nothing was built.",
  });
}

/** What takes the place of one base, and what follows its FROM line. */
export interface Rewrite {
  readonly use: BaseUse;
  /** The reference to write; null keeps the one that is there. */
  readonly reference: string | null;
  /** Lines added below a FROM. */
  readonly after: readonly string[];
}

/** The Dockerfile's text with its bases replaced. The other lines stay; a `# syntax=` line goes, since its frontend is an image of its own. */
export function rewriteDockerfile(dockerfile: Dockerfile, rewrites: readonly Rewrite[]): string {
  const byLine = new Map(rewrites.map((rewrite) => [rewrite.use.instruction.start, rewrite]));
  const out: string[] = [];
  for (let at = 0; at < dockerfile.lines.length; ) {
    const rewrite = byLine.get(at);
    const line = dockerfile.lines[at] ?? "";
    if (rewrite === undefined) {
      if (!(dockerfile.syntax !== null && /^#\s*syntax\s*=/i.test(line))) out.push(line);
      at += 1;
      continue;
    }
    const { instruction, kind, stage } = rewrite.use;
    const reference = rewrite.reference ?? rewrite.use.reference;
    if (kind === "from") out.push(`FROM ${reference}${stage === null ? "" : ` AS ${stage}`}`);
    else out.push(`COPY ${instruction.text.replace(/(^|\s)--from=\S+/, `$1--from=${reference}`)}`);
    out.push(...rewrite.after);
    at = instruction.end;
  }
  return out.join("\n");
}
