import fc from "fast-check";
import type { Judged } from "../../../../runner/proof/judged.ts";

/** Sets of judged proofs: `repeats` judgments each, some invalid, several proofs a problem. */
export function judgedSets(kind: "prover" | "verifier", repeats: number, samples = 2): fc.Arbitrary<Judged[]> {
  const judgment = fc.oneof(
    { weight: 4, arbitrary: fc.constant(-1) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 3 }) },
    { weight: 1, arbitrary: fc.constant(null) },
  );
  const judgments = fc.array(judgment, { minLength: repeats, maxLength: repeats });
  const one = fc.record({
    failed: kind === "prover" ? fc.boolean() : fc.constant(false),
    firstError: fc.constantFrom(-1, -1, 0, 1, 3),
    judgments,
    scores: fc.array(fc.constantFrom(1, 0.75, 0.5, 0, null), { minLength: repeats, maxLength: repeats }),
  });
  const problem = fc.record({
    domain: fc.constantFrom("ugd" as const, "qe" as const),
    proofs: fc.array(one, { minLength: samples, maxLength: samples }),
  });
  return fc.array(problem, { minLength: 1, maxLength: 6 }).map((problems) =>
    problems.flatMap(({ domain, proofs }, number) =>
      proofs.map(
        (proof, sample): Judged => ({
          record_key: `${String(number).padStart(6, "0")}_${String(sample).padStart(3, "0")}`,
          problem_id: `p${number}`,
          domain,
          failed: proof.failed,
          correct: kind === "prover" ? null : proof.firstError === -1,
          firstError: proof.firstError,
          judgments: proof.failed ? [] : proof.judgments,
          meta:
            kind === "prover"
              ? []
              : proof.judgments.map((step, index) => (step === null ? null : (proof.scores[index] ?? null))),
        }),
      ),
    ),
  );
}
