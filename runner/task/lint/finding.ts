/** What `runner tasks check` can find. Ids are permanent. */
export type RuleId =
  | "load"
  | "unknown-key"
  | "deprecated-key"
  | "artifact-overlap"
  | "non-json-number"
  | "refused"
  | "own-shape"
  | "leak"
  | "leak-unscanned"
  | "unpinned-base"
  | "crlf"
  | "shebang"
  | "symlink"
  | "large-file"
  | "secret"
  | "verifier-needs-network"
  | "oracle-needs-network"
  | "verifier-always-passes"
  | "verifier-dead-branch"
  | "verifier-writes-no-reward"
  | "verifier-image-without-tests"
  | "nothing-collected"
  | "schema-invalid"
  | "schema-open"
  | "schema-answer"
  | "schema-field-unmentioned"
  | "submission-path"
  | "instruction-path"
  | "traps-missing"
  | "trap-check-unknown"
  | "oracle-missing"
  | "oracle-stores-answer"
  | "healthcheck-proves-nothing"
  | "healthcheck-command"
  | "min-reward";

/** One finding of the linter. An error means that the task's result could not be trusted; a warning means that the author should look. */
export interface Finding {
  readonly level: "error" | "warning";
  readonly rule: RuleId;
  /** The task's id. */
  readonly task: string;
  /** Absolute path, or a path inside the image prefixed by `image:`. */
  readonly file: string | null;
  /** 1-based. */
  readonly line: number | null;
  readonly message: string;
  /** What to do. */
  readonly hint: string;
}

/** A finding before it is known whose it is. */
export type Found = Omit<Finding, "task">;

/** Errors before warnings, then by file and line. */
export function compareFindings(a: Finding, b: Finding): number {
  if (a.level !== b.level) return a.level === "error" ? -1 : 1;
  const [one, other] = [a.file ?? "", b.file ?? ""];
  if (one !== other) return one < other ? -1 : 1;
  return (a.line ?? 0) - (b.line ?? 0);
}
