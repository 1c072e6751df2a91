import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../runner/base/random.ts";
import { isUnknown } from "../../../runner/base/unknown.ts";
import { type Judged, pessimisticAccepts } from "../../../runner/proof/judged.ts";
import { proverMeasures, verifierMeasures } from "../../../runner/proof/measures.ts";
import { balF1, proverMetrics, verifierMetrics } from "../../../runner/proof/metrics.ts";
import { passAtKs, proverScaling, verifierScaling } from "../../../runner/proof/scaling.ts";
import { summarize } from "../../../runner/proof/summary.ts";
import { makeResampler } from "../../../runner/proof/uncertainty.ts";
import {
  bestThreshold,
  crossValidate,
  decide,
  makeFolds,
  proverVotes,
  verifierVotes,
} from "../../../runner/proof/voting.ts";
import { judgedSets } from "./support/judged-arbitrary.ts";
import { average, harmonicMean, slowDecision, slowProver, slowVerifier, subsets } from "./support/slow-scores.ts";

const REPEATS = 4;
const close = (found: object, expected: object): void => {
  for (const [name, value] of Object.entries(expected)) {
    const seen: unknown = Reflect.get(found, name);
    if (typeof value === "number" && typeof seen === "number") expect(seen, name).toBeCloseTo(value, 12);
    else expect(seen, name).toBe(value);
  }
  expect(Object.keys(found)).toEqual(Object.keys(expected));
};
const proof = (judgments: (number | null)[], correct: boolean | null = null, more: Partial<Judged> = {}): Judged => ({
  record_key: "000000_000",
  problem_id: "p",
  domain: "ugd",
  failed: false,
  correct,
  firstError: correct === false ? 0 : -1,
  judgments,
  meta: [],
  ...more,
});

describe("metric objects", () => {
  it("agree with the slow counting on thousands of label sets, field for field", () => {
    fc.assert(
      fc.property(judgedSets("prover", REPEATS), (proofs) =>
        close(proverMetrics(proofs, REPEATS), slowProver(proofs, REPEATS)),
      ),
      { numRuns: 2000, seed: 7 },
    );
    fc.assert(
      fc.property(judgedSets("verifier", REPEATS), (proofs) =>
        close(verifierMetrics(proofs, REPEATS, true), slowVerifier(proofs, REPEATS)),
      ),
      { numRuns: 2000, seed: 8 },
    );
  });

  it("count valid grades over all requested judgments, without rounding between proofs", () => {
    const ten = Array.from({ length: 10 }, () => {
      const blank = Array.from({ length: 9 }, () => null);
      return proof([-1, ...blank], true, { meta: [1, ...blank] });
    });
    expect(verifierMetrics(ten, 10, true)).toMatchObject({ verifier_valid_rate: 0.1, meta_valid_rate: 0.1 });
  });

  it("equal the scores whose intervals are computed from totals by problem", () => {
    fc.assert(
      fc.property(judgedSets("prover", REPEATS), judgedSets("verifier", REPEATS), (generated, annotated) => {
        const cases = [
          [generated, proverMeasures(REPEATS), proverMetrics(generated, REPEATS)],
          [annotated, verifierMeasures(REPEATS, true), verifierMetrics(annotated, REPEATS, true)],
        ] as const;
        for (const [proofs, measures, metrics] of cases) {
          const sampler = makeResampler(proofs, "s", 10);
          for (const [name, measure] of Object.entries(measures)) {
            const { value } = sampler.estimate(measure);
            const expected: unknown = Reflect.get(metrics, name);
            if (typeof expected === "number") expect(value, name).toBeCloseTo(expected, 12);
            else expect(value, name).toBe(expected);
          }
        }
      }),
      { numRuns: 200, seed: 9 },
    );
  });

  it("need every judgment valid and accepting for a pessimistic acceptance", () => {
    expect(proverMetrics([proof([-1, -1])], 2).pessimistic).toBe(1);
    for (const judgments of [[-1, 0], [-1, null], [-1], []])
      expect(proverMetrics([proof(judgments)], 2).pessimistic).toBe(0);
  });

  it("average samples before problems", () => {
    const proofs = [
      proof([-1]),
      proof([0]),
      proof([0], null, { problem_id: "q" }),
      proof([0], null, { problem_id: "q" }),
    ];
    expect(proverMetrics(proofs, 1)).toMatchObject({ pessimistic: 0.25, pass_any_sample: 0.5 });
  });

  it("give an invalid judgment nothing in either class, and never make it a rejection", () => {
    const metrics = verifierMetrics([proof([null], true), proof([null], false)], 1, false);
    expect(metrics).toMatchObject({ rough_tpr: 0, rough_tnr: 0, rough_bal_f1: 0, verifier_valid_rate: 0 });
    for (const threshold of [1, 2, 3]) expect(decide(proof([null, null, null]), 3, threshold)).toBe("undecided");
  });

  it("are null where a class is absent", () => {
    expect(verifierMetrics([proof([-1], true)], 1, false)).toMatchObject({
      rough_tpr: 1,
      rough_tnr: null,
      rough_bal_f1: null,
      balanced_accuracy: null,
      first_error_step_accuracy_incorrect: null,
    });
  });

  it("reproduce the published BalF1 columns from their rates within rounding", () => {
    const published = [
      [78.9, 73.3, 76.0],
      [94.0, 49.0, 64.4],
      [78.1, 70.6, 74.1],
      [95.2, 38.7, 55.0],
      [95.2, 38.7, 55.0],
      [78.9, 55.1, 64.9],
      [94.0, 39.1, 55.2],
      [78.1, 55.8, 65.1],
      [95.3, 32.0, 47.9],
      [95.2, 30.7, 46.4],
    ] as const;
    for (const [tpr, tnr, bal] of published) {
      expect(Math.abs(100 * (balF1(tpr / 100, tnr / 100) ?? 0) - bal)).toBeLessThanOrEqual(0.1);
    }
    expect(balF1(0, 0)).toBe(0);
    expect(balF1(null, 1)).toBeNull();
  });
});

describe("votes", () => {
  it("decide like the slow counting at every threshold", () => {
    fc.assert(
      fc.property(judgedSets("verifier", REPEATS), fc.integer({ min: 1, max: REPEATS }), (proofs, threshold) => {
        for (const one of proofs) expect(decide(one, REPEATS, threshold)).toBe(slowDecision(one.judgments, threshold));
        const share = (correct: boolean, wanted: string) =>
          average(
            proofs
              .filter((one) => one.correct === correct)
              .map((one) => (slowDecision(one.judgments, threshold) === wanted ? 1 : 0)),
          );
        const vote = verifierVotes(makeResampler(proofs, "s", 10), REPEATS)[threshold - 1];
        const [tpr, tnr] = [share(true, "accepted"), share(false, "rejected")];
        const expected = [
          tpr,
          tnr,
          harmonicMean(tpr, tnr),
          average(proofs.map((one) => (slowDecision(one.judgments, threshold) === "undecided" ? 1 : 0))),
        ];
        [vote?.tpr.value, vote?.tnr.value, vote?.bal_f1.value, vote?.undecided.value].forEach((found, index) => {
          const value = expected[index];
          if (typeof value === "number") expect(found).toBeCloseTo(value, 12);
          else expect(found).toBe(value);
        });
      }),
      { numRuns: 500, seed: 10 },
    );
  });

  it("end in the pessimistic score when all judgments must accept", () => {
    fc.assert(
      fc.property(judgedSets("prover", REPEATS), (proofs) => {
        const last = proverVotes(makeResampler(proofs, "s", 10), REPEATS).at(-1);
        expect(last?.accepted.value).toBeCloseTo(proverMetrics(proofs, REPEATS).pessimistic, 12);
      }),
      { numRuns: 200, seed: 11 },
    );
  });

  it("choose the stricter of equally good thresholds, and none where a class is absent", () => {
    expect(bestThreshold([proof([-1, -1], true), proof([0, 0], false)], 2)).toBe(2);
    expect(bestThreshold([proof([-1, null], true), proof([0, 0], false)], 2)).toBe(1);
    expect(bestThreshold([proof([-1, -1], true)], 2)).toBeNull();
  });
});

describe("the cross-validated threshold", () => {
  const many = (count: number): Judged[] =>
    Array.from({ length: count }, (_, index) => {
      const correct = index % 2 === 0;
      const judgments = Array.from({ length: 3 }, (_, repeat) =>
        ((index * 5 + repeat * 7) % 4 === 0) === correct ? 0 : -1,
      );
      return proof(judgments, correct, { record_key: String(index), problem_id: `p${index >> 2}` });
    });

  it("of a fold is chosen on the other folds alone, whatever the rows of the fold are", () => {
    const proofs = many(80);
    const sampler = makeResampler(proofs, "7", 10);
    const result = crossValidate(sampler, 3);
    if (isUnknown(result)) throw new Error("expected folds");
    const folds = makeFolds(sampler);
    expect(
      folds
        .flatMap(({ held }) => held.flat())
        .map(({ record_key }) => record_key)
        .sort(),
    ).toEqual(proofs.map(({ record_key }) => record_key).sort());
    folds.forEach(({ held, rest }, index) => {
      const outside = new Set(rest.flat().map(({ problem_id }) => problem_id));
      expect(held.flat().some(({ problem_id }) => outside.has(problem_id))).toBe(false);
      expect(result.folds[index]).toEqual({
        threshold: bestThreshold(rest.flat(), 3),
        problems: held.length,
        proofs: held.flat().length,
      });
      const inside = new Set(held.flat().map(({ problem_id }) => problem_id));
      const turned = proofs.map((one) =>
        inside.has(one.problem_id) ? { ...one, judgments: one.judgments.map((step) => (step === -1 ? 0 : -1)) } : one,
      );
      const after = crossValidate(makeResampler(turned, "7", 10), 3);
      if (isUnknown(after)) throw new Error("expected folds");
      expect(after.folds[index]?.threshold).toBe(result.folds[index]?.threshold);
      expect(after.bal_f1.value).not.toBe(result.bal_f1.value);
    });
  });

  it("looks worse than the best threshold on all rows when judgments are noise", () => {
    const random = seededRandom("noise");
    const gaps = Array.from({ length: 60 }, (_, run) => {
      const proofs = Array.from({ length: 40 }, (_, index) =>
        proof(
          Array.from({ length: 5 }, () => (random.uniform() < 0.5 ? -1 : 0)),
          index % 2 === 0,
          { record_key: String(index), problem_id: `p${index}` },
        ),
      );
      const sampler = makeResampler(proofs, String(run), 10);
      const chosen = crossValidate(sampler, 5);
      const best = Math.max(...verifierVotes(sampler, 5).map(({ bal_f1 }) => bal_f1.value ?? 0));
      return isUnknown(chosen) ? Number.NaN : best - (chosen.bal_f1.value ?? 0);
    });
    expect(average(gaps)).toBeGreaterThan(0.005);
    expect(Math.min(...gaps)).toBeGreaterThan(-0.3);
  });

  it("is unknown, with its reason, for one problem or one class", () => {
    expect(crossValidate(makeResampler([proof([-1], true)], "s", 10), 1)).toEqual({
      unknown: "unavailable",
      detail: "cross-validation needs at least 2 problems",
    });
    const oneClass = [proof([-1], true), proof([-1], true, { problem_id: "q" })];
    expect(crossValidate(makeResampler(oneClass, "s", 10), 1)).toEqual({
      unknown: "unavailable",
      detail: "without one of the folds, the remaining proofs are all of one class",
    });
  });
});

describe("scaling", () => {
  it("equals the mean over every subset of samples and judgments", () => {
    const [samples, repeats] = [3, 3];
    fc.assert(
      fc.property(judgedSets("prover", repeats, samples), (proofs) => {
        const problems = [...new Set(proofs.map(({ problem_id }) => problem_id))].map((id) =>
          proofs.filter((one) => one.problem_id === id),
        );
        const rows = proverScaling(makeResampler(proofs, "s", 10), samples, repeats);
        expect(rows).toHaveLength(samples * repeats);
        for (const row of rows) {
          // Each sample's judgments are a subset of their own, so all combinations are enumerated.
          const accepts = (one: Judged): number[] =>
            one.failed
              ? [0]
              : subsets(one.judgments, row.verifier_repeats).map((chosen) =>
                  chosen.every((step) => step === -1) ? 1 : 0,
                );
          const pessimistic = average(
            problems.map((group) => average(group.map((one) => average(accepts(one)) ?? 0)) ?? 0),
          );
          const any = average(
            problems.map((group) => {
              const worlds = subsets(group, row.samples).flatMap((chosen) =>
                combinations(chosen.map(accepts)).map(({ values, weight }) => ({
                  value: values.includes(1) ? 1 : 0,
                  weight,
                })),
              );
              const total = worlds.reduce((sum, { weight }) => sum + weight, 0);
              return worlds.reduce((sum, { value, weight }) => sum + value * weight, 0) / total;
            }),
          );
          expect(row.pessimistic.value).toBeCloseTo(pessimistic ?? -1, 10);
          expect(row.pass_any_sample).toBeCloseTo(any ?? -1, 10);
        }
        const last = rows.at(-1);
        expect(last?.pessimistic.value).toBeCloseTo(proverMetrics(proofs, repeats).pessimistic, 12);
        expect(last?.pass_any_sample).toBeCloseTo(proverMetrics(proofs, repeats).pass_any_sample, 12);
      }),
      { numRuns: 60, seed: 12 },
    );
  });

  it("of votes equals the mean over every subset of judgments", () => {
    fc.assert(
      fc.property(judgedSets("verifier", REPEATS), (proofs) => {
        for (const row of verifierScaling(proofs, REPEATS)) {
          const share = (correct: boolean, wanted: string) =>
            average(
              proofs
                .filter((one) => one.correct === correct)
                .map(
                  (one) =>
                    average(
                      subsets(one.judgments, row.verifier_repeats).map((chosen) =>
                        slowDecision(chosen, row.threshold) === wanted ? 1 : 0,
                      ),
                    ) ?? 0,
                ),
            );
          const [tpr, tnr] = [share(true, "accepted"), share(false, "rejected")];
          for (const [found, expected] of [
            [row.tpr, tpr],
            [row.tnr, tnr],
            [row.bal_f1, harmonicMean(tpr, tnr)],
          ] as const) {
            if (expected === null) expect(found).toBeNull();
            else expect(found).toBeCloseTo(expected, 10);
          }
        }
      }),
      { numRuns: 200, seed: 13 },
    );
  });

  it("gives pass@k as the share of k-subsets with an accepted sample", () => {
    fc.assert(
      fc.property(judgedSets("prover", 2, 4), (proofs) => {
        const problems = [...new Set(proofs.map(({ problem_id }) => problem_id))].map((id) =>
          proofs.filter((one) => one.problem_id === id),
        );
        for (const { k, pass_at_k } of passAtKs(makeResampler(proofs, "s", 10), 4, 2)) {
          const expected = average(
            problems.map(
              (group) =>
                average(
                  subsets(group, k).map((chosen) => (chosen.some((one) => pessimisticAccepts(one, 2)) ? 1 : 0)),
                ) ?? 0,
            ),
          );
          expect(pass_at_k.value).toBeCloseTo(expected ?? -1, 10);
        }
      }),
      { numRuns: 150, seed: 14 },
    );
  });
});

/** All ways to take one value of each list; ways of lists of different lengths weigh the same in total. */
function combinations(lists: readonly (readonly number[])[]): { values: number[]; weight: number }[] {
  return lists.reduce<{ values: number[]; weight: number }[]>(
    (worlds, list) =>
      worlds.flatMap(({ values, weight }) =>
        list.map((value) => ({ values: [...values, value], weight: weight / list.length })),
      ),
    [{ values: [], weight: 1 }],
  );
}

describe("intervals", () => {
  it("are unknown, never of zero width, where the data allow none", () => {
    const sure = makeResampler([proof([-1]), proof([-1], null, { problem_id: "q" })], "s", 100).estimate(
      proverMeasures(1).pessimistic ?? { columns: [], score: () => 0 },
    );
    expect(sure).toEqual({
      value: 1,
      percentile: {
        unknown: "unavailable",
        detail: "all resamples agree: no spread was seen, which is no proof that there is none",
      },
      bca: {
        unknown: "unavailable",
        detail: "all resamples agree: no spread was seen, which is no proof that there is none",
      },
      undefined_resamples: 0,
    });
  });

  it("count resamples in which a class was not drawn", () => {
    const proofs = [proof([-1], true), proof([-1], false, { problem_id: "q" }), proof([0], false, { problem_id: "r" })];
    const { rough_tnr } = verifierMeasures(1, false);
    const estimate = makeResampler(proofs, "s", 1000).estimate(rough_tnr ?? { columns: [], score: () => 0 });
    expect(estimate.value).toBe(0.5);
    expect(estimate.undefined_resamples).toBeGreaterThan(10);
    expect(estimate.undefined_resamples).toBeLessThan(90);
  });
});

describe("the summary", () => {
  const settings = {
    samples: 1,
    verifier_repeats: 1,
    meta: false,
    domain: "all",
    limit: null,
    use_reference_solution: true,
  } as const;
  const row = (problem_id: string, domain: "ugd" | "qe") => ({
    problem_id,
    domain,
    problem: "x",
    reference_solution: "",
    subject: "",
  });

  it("shows scores for completed splits only", () => {
    const rows = [row("p", "ugd"), row("q", "qe")];
    const done = [proof([-1], null, { record_key: "000000_000" })];
    const summary = summarize("prover", rows, done, settings, { seed: 1, resamples: 100 });
    expect(summary.complete).toBe(false);
    expect(summary.splits.all).toEqual({
      selected_rows: 2,
      expected_records: 2,
      completed_records: 1,
      complete: false,
      metrics: null,
      analysis: null,
    });
    expect(summary.splits.ugd).toMatchObject({ complete: true, metrics: { problems: 1, pessimistic: 1 } });
    expect(summary.splits.qe).toMatchObject({ completed_records: 0, complete: false, metrics: null });
  });

  it("calls an empty split complete and gives it no score", () => {
    const summary = summarize("prover", [row("p", "ugd")], [proof([-1])], settings, { seed: 1, resamples: 100 });
    expect(summary.splits.qe).toEqual({
      selected_rows: 0,
      expected_records: 0,
      completed_records: 0,
      complete: true,
      metrics: null,
      analysis: null,
    });
  });

  it("does not depend on the order in which records were finished", () => {
    fc.assert(
      fc.property(judgedSets("verifier", 2), (proofs) => {
        const rows = proofs.map(({ problem_id, domain }) => row(problem_id, domain));
        const of = (list: Judged[]) =>
          JSON.stringify(
            summarize("verifier", rows, list, { ...settings, verifier_repeats: 2 }, { seed: 1, resamples: 50 }),
          );
        expect(of([...proofs].reverse())).toBe(of(proofs));
      }),
      { numRuns: 50, seed: 15 },
    );
  });
});
