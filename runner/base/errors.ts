/** What kind of question an error answers; decides the exit code (2 unless stated). */
export type ErrorKind =
  /** The command line or an option is wrong. */
  | "usage"
  /** A file the user gave is wrong. */
  | "input"
  /** Docker, disk, network or another part of the world is not there. */
  | "environment"
  /** Bytes differ from what their digest, anchor or lock says. */
  | "integrity"
  /** Everything is readable, and doing it is not allowed. */
  | "refused"
  /** A signal or an abort ended the work. */
  | "interrupted";

export interface RunnerErrorOptions {
  /** What the user should do now; one sentence. */
  readonly hint?: string;
  readonly cause?: unknown;
  /** Machine-readable facts, printed with `--json`. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/**
 * The one error class that reaches the user. `message` says what happened and why, with the value seen; `hint` says what to do.
 * `code` is permanent: scripts may test for it.
 */
export class RunnerError extends Error {
  readonly kind: ErrorKind;
  readonly code: string;
  readonly hint: string | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(kind: ErrorKind, code: string, message: string, options: RunnerErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "RunnerError";
    this.kind = kind;
    this.code = code;
    this.hint = options.hint;
    this.details = options.details;
  }
}

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** True when `thrown` is a system error with this code, such as `ENOENT`. */
export function hasCode(thrown: unknown, code: string): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === code;
}
