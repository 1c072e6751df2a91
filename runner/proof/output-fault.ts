import { hasCode, RunnerError } from "../base/errors.ts";

/** What a file system answers when it cannot take what a run writes, whatever the run does. */
const FAULTS = ["ENOSPC", "EDQUOT", "EROFS", "EACCES", "EPERM", "EIO", "EFBIG", "ENAMETOOLONG", "EMFILE", "ENFILE"];

/** The error that a user can mend in place of a fault of the file system below `output`; anything else stays as it is. */
export function outputFault(thrown: unknown, output: string): unknown {
  if (!(thrown instanceof Error) || thrown instanceof RunnerError) return thrown;
  if (!FAULTS.some((code) => hasCode(thrown, code))) return thrown;
  return new RunnerError("environment", "OUTPUT_UNWRITABLE", `${output} cannot be written: ${thrown.message}`, {
    hint: "Make room or choose another --output. Every reply that is on disk is kept: --resume goes on from there.",
    cause: thrown,
  });
}
