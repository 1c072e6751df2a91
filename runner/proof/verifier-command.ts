import { type ProofIo, runProofCommand } from "./command.ts";
import type { ProofOptions } from "./options.ts";

/** `runner verifier`: has annotated proofs judged, and scores the judge. */
export async function run(options: ProofOptions, _positionals: readonly string[], io: ProofIo): Promise<number> {
  return runProofCommand("verifier", options, io);
}
