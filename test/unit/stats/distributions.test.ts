import { describe, expect, test } from "vitest";
import { normalCdf, normalQuantile, normalTail } from "../../../runner/stats/normal.ts";
import { studentCdf, studentQuantile, studentTail } from "../../../runner/stats/student-t.ts";

/** Relative distance from a reference value. */
function off(value: number, reference: number): number {
  return Math.abs(value - reference) / Math.max(Math.abs(reference), 1e-300);
}

// scipy.stats.t.sf(t, df) for t = 0.1, 1, 2.5, 12 and scipy.stats.t.ppf(p, df) for p = .6, .8, .975, .9999; SciPy 1.17.1.
const STUDENT: readonly [number, readonly number[], readonly number[]][] = [
  [
    1,
    [0.4682744825694465, 0.25000000000000006, 0.12111894159084341, 0.026464676059589878],
    [0.32491969623290634, 1.3763819204711738, 12.706204736174694, 3183.098757118502],
  ],
  [
    2,
    [0.4647327192070701, 0.2113248654051871, 0.06480586011075541, 0.00343646683857923],
    [0.2886751345948128, 1.0606601717798214, 4.302652729749462, 70.70007107496818],
  ],
  [
    4,
    [0.4625779204697266, 0.18695048315002943, 0.03338327240599407, 0.0001382142742514865],
    [0.2707222947075976, 0.9409645772351816, 2.7764451051977934, 13.033671720896821],
  ],
  [
    11,
    [0.4610717963885731, 0.1694003480981008, 0.014753187043682081, 5.8164202513095616e-8],
    [0.25955586047627044, 0.8755299780738819, 2.200985160091639, 5.452762088822254],
  ],
  [
    49,
    [0.4603761762925517, 0.16111170297533772, 0.00790789442359004, 1.690405247398702e-16],
    [0.2547270255991911, 0.8490183985380773, 2.0095752371292392, 4.020490058782638],
  ],
  [
    129,
    [0.4602497842738194, 0.15959130503351932, 0.006836823144283405, 4.800623353745603e-23],
    [0.25387023712720563, 0.8444164777720766, 1.9785244914792577, 3.8287127987819884],
  ],
  [
    399,
    [0.46019727520559967, 0.15895828532305756, 0.006409937065639868, 7.708073368879278e-29],
    [0.253516097483759, 0.8425230157254241, 1.965927295920882, 3.753865175655288],
  ],
  [
    401,
    [0.4601971499958736, 0.15895677488817764, 0.0064089322247991975, 7.380419393802959e-29],
    [0.25351525428763383, 0.8425185134536199, 1.965897465336516, 3.7536899228715153],
  ],
  [
    2000,
    [0.4601771739333289, 0.15871573905037165, 0.006249426299056673, 2.1828512476087347e-32],
    [0.2533808068206651, 0.8418009909487402, 1.9611508260994377, 3.7259225661998996],
  ],
];

describe("Student's t", () => {
  test.each(STUDENT)("agrees with SciPy for %i degrees of freedom, far tails included", (degrees, tails, quantiles) => {
    const worst = [
      ...[0.1, 1, 2.5, 12].map((t, index) => off(studentTail(t, degrees), tails[index] ?? Number.NaN)),
      ...[0.6, 0.8, 0.975, 0.9999].map((p, index) => off(studentQuantile(p, degrees), quantiles[index] ?? Number.NaN)),
    ];
    expect(Math.max(...worst)).toBeLessThan(1e-11);
  });

  test("is symmetric about 0", () => {
    expect(studentCdf(0, 7)).toBe(0.5);
    expect(studentCdf(-1.3, 7) + studentCdf(1.3, 7)).toBeCloseTo(1, 14);
    expect(studentQuantile(0.025, 7)).toBeCloseTo(-studentQuantile(0.975, 7), 12);
    expect(studentQuantile(0.5, 7)).toBe(0);
    expect(studentTail(Number.POSITIVE_INFINITY, 7)).toBe(0);
  });

  test("refuses what has no distribution", () => {
    expect(() => studentTail(1, 0)).toThrow("Expected a whole number of degrees of freedom from 1, got 0");
    expect(() => studentTail(1, 2.5)).toThrow("got 2.5");
    expect(() => studentQuantile(1, 3)).toThrow("Expected a probability between 0 and 1, got 1");
  });
});

describe("The normal distribution", () => {
  test("agrees with SciPy, far tails included", () => {
    // scipy.stats.norm.sf and scipy.stats.norm.ppf; SciPy 1.17.1.
    const tails = [
      [0.5, 0.3085375387259869],
      [1.96, 0.024997895148220435],
      [2.5, 0.006209665325776132],
      [3, 0.0013498980316300933],
      [8, 6.22096057427174e-16],
      [20, 2.7536241186061556e-89],
    ] as const;
    const quantiles = [
      [1e-10, -6.361340902404056],
      [0.025, -1.9599639845400545],
      [0.3, -0.5244005127080409],
      [0.9, 1.2815515655446004],
      [0.999, 3.090232306167813],
    ] as const;
    const worst = [
      ...tails.map(([z, value]) => off(normalTail(z), value)),
      ...quantiles.map(([p, value]) => off(normalQuantile(p), value)),
    ];
    expect(Math.max(...worst)).toBeLessThan(1e-11);
    expect(normalCdf(0)).toBe(0.5);
    expect(normalCdf(-1.96)).toBeCloseTo(0.024997895148220435, 15);
    expect(normalQuantile(0.5)).toBe(0);
    expect(() => normalQuantile(0)).toThrow("got 0");
  });
});
