import type { ModelSource, Task } from "./terms.ts";

/** What a reader must know beside every score; the same words in every report. */
export function cautions(task: Task, source: ModelSource, retries: number): string[] {
  const judged =
    task === "prover"
      ? "Acceptance is the opinion of a model that judges proofs: it is fallible, and no certificate of a proof."
      : "Judgments are the opinions of models: they are fallible, and no certificates of proofs.";
  const origin: Record<ModelSource, string[]> = {
    live: [],
    replayed: ["All replies are replayed from a recording: nothing here says how the endpoints answer today."],
    scripted: ["All replies are scripted by hand: no model was called, and no score here is any model's achievement."],
  };
  return [
    ...origin[source],
    judged,
    "No paper-level claim is made: prompts, settings, repeats and models differ from published runs unless shown to be the same.",
    "Labels and quality flags of the data are taken as supplied.",
    "Every invalid output earns zero and stays in the denominator.",
    `Transport retries: ${retries}. Each can have added a sample at the provider that nobody saw.`,
    "Intervals are 95 % bootstrap intervals over whole problems. They show the choice of problems, not the choice of model, prompt or settings.",
    "Scores for fewer samples or judgments are averages over all subsets of this run: rates are unbiased; BalF1 is computed from the two rates.",
    ...(task === "verifier"
      ? [
          "The best threshold on all rows looks better than it is; the cross-validated one was never chosen on the rows it is reported on.",
        ]
      : []),
  ];
}
