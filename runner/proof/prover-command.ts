import { type ProofIo, runProofCommand } from "./command.ts";
import type { ProofOptions } from "./options.ts";

/** `runner prover`: has proofs written and judged, and scores the policy. */
export async function run(options: ProofOptions, _positionals: readonly string[], io: ProofIo): Promise<number> {
  return runProofCommand("prover", options, io);
}
