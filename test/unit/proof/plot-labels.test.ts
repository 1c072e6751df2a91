import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Frame, type PlacedLabel, placeLabels, ranges } from "../../../runner/proof/plot-labels.ts";

const FRAME: Frame = { left: 0, right: 560, top: 0, bottom: 420 };
const points = fc.array(
  fc.record({
    x: fc.integer({ min: 20, max: 540 }),
    y: fc.integer({ min: 20, max: 400 }),
    number: fc.integer({ min: 1, max: 8 }),
    series: fc.constantFrom("all", "ugd", "qe"),
  }),
  { minLength: 1, maxLength: 24 },
);
/** The same points pulled together, as rates of good judges are. */
const crowded = points.map((list) => list.map((one) => ({ ...one, x: 480 + one.x / 10, y: 30 + one.y / 8 })));
const boxOf = ({ x, y, text }: PlacedLabel): Frame => ({
  left: x - text.length * 4,
  right: x + text.length * 4,
  top: y - 6.5,
  bottom: y + 6.5,
});
const apart = (a: Frame, b: Frame): boolean =>
  a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;

describe("labels of a plot", () => {
  it("cover neither each other nor a dot, stay inside of the frame, and name every point", () => {
    fc.assert(
      fc.property(fc.oneof(points, crowded), (list) => {
        const labels = placeLabels(list, FRAME);
        const boxes = labels.map(boxOf);
        boxes.forEach((own, index) => {
          for (const other of boxes.slice(index + 1)) expect(apart(own, other)).toBe(true);
          for (const { x, y } of list) {
            expect(apart(own, { left: x - 4, right: x + 4, top: y - 4, bottom: y + 4 })).toBe(true);
          }
          expect(own.left >= 0 && own.right <= 560 && own.top >= 0 && own.bottom <= 420).toBe(true);
        });
        const named = new Set(labels.flatMap(({ text }) => numbersOf(text)));
        expect([...named].sort()).toEqual([...new Set(list.map(({ number }) => number))].sort());
      }),
      { numRuns: 500, seed: 21 },
    );
  });

  it("are shared by points in one place, in the colour of their series if it is one", () => {
    const at = (number: number, series: string, x = 100) => ({ x, y: 100, number, series });
    const labels = placeLabels(
      [at(1, "all"), at(2, "all"), at(3, "all"), at(5, "all"), at(1, "qe", 300), at(1, "ugd", 301)],
      FRAME,
    );
    expect(labels.map(({ text, series, of, far }) => ({ text, series, of, far }))).toEqual([
      { text: "1–3, 5", series: "all", of: { x: 100, y: 100 }, far: false },
      { text: "1", series: null, of: { x: 300, y: 100 }, far: false },
    ]);
  });

  it("write numbers as ranges", () => {
    expect([[4], [2, 1], [1, 2, 4, 5, 6, 8], [3, 3]].map(ranges)).toEqual(["4", "1–2", "1–2, 4–6, 8", "3"]);
  });
});

function numbersOf(text: string): number[] {
  return text.split(", ").flatMap((part) => {
    const [from = 0, to = from] = part.split("–").map(Number);
    return Array.from({ length: to - from + 1 }, (_, index) => from + index);
  });
}
