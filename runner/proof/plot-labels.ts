/** A point of a plot, in pixels, with the number that tells it from its neighbours. */
export interface NumberedPoint {
  readonly x: number;
  readonly y: number;
  readonly number: number;
  readonly series: string;
}

/** A label in pixels: its middle, and the point that it belongs to. */
export interface PlacedLabel {
  readonly x: number;
  readonly y: number;
  readonly text: string;
  /** Null when points of several series share the label. */
  readonly series: string | null;
  readonly of: { readonly x: number; readonly y: number };
  /** True when the label stands so far from its point that a line should join them. */
  readonly far: boolean;
}

export interface Frame {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Points nearer than this are seen as one. */
const SAME = 4;
/** Radius of a dot with some air around it. */
const DOT = 5;
const CHARACTER = 8;
const HEIGHT = 13;
/** Distances that are tried, nearest first, and directions from right above on. */
const DISTANCES = [13, 22, 32, 44, 58, 74, 92, 112, 134, 158];
const DIRECTIONS = [-45, 0, -90, 180, -135, 45, 90, 135].map((degrees) => (degrees * Math.PI) / 180);

/** Finds a place for each label where it covers no other label, no dot and nothing outside the frame; nearest places are taken first. */
export function placeLabels(points: readonly NumberedPoint[], frame: Frame): PlacedLabel[] {
  const dots = points.map(({ x, y }) => box(x, y, 2 * DOT, 2 * DOT));
  const placed: PlacedLabel[] = [];
  const taken: Frame[] = [];
  for (const group of together(points)) {
    const { x, y, text, series } = group;
    const width = text.length * CHARACTER;
    const spots = DISTANCES.flatMap((distance) =>
      DIRECTIONS.map((angle) => ({
        x: x + Math.cos(angle) * (distance + (width - CHARACTER) / 2),
        y: y + Math.sin(angle) * distance,
        far: distance > (DISTANCES[0] ?? 0),
      })),
    );
    const free = spots.find((spot) => {
      const own = box(spot.x, spot.y, width, HEIGHT);
      return inside(own, frame) && ![...taken, ...dots].some((other) => overlap(own, other));
    });
    // A plot so full has no place left; the points still stand in the order of their line.
    if (free === undefined) continue;
    taken.push(box(free.x, free.y, width, HEIGHT));
    placed.push({ ...free, text, series, of: { x, y } });
  }
  return placed;
}

interface Group {
  readonly x: number;
  readonly y: number;
  readonly text: string;
  readonly series: string | null;
}

/** Points that cannot be told apart share a label. */
function together(points: readonly NumberedPoint[]): Group[] {
  const groups: NumberedPoint[][] = [];
  for (const point of points) {
    const near = groups.find(
      ([first]) => first !== undefined && Math.hypot(first.x - point.x, first.y - point.y) < SAME,
    );
    if (near === undefined) groups.push([point]);
    else near.push(point);
  }
  return groups.flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { x, y, series } = first;
    const shared = group.some((point) => point.series !== series);
    return [{ x, y, text: ranges(group.map(({ number }) => number)), series: shared ? null : series }];
  });
}

/** `1`, `2–4` or `1, 3–5`. */
export function ranges(numbers: readonly number[]): string {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  const runs: [number, number][] = [];
  for (const number of sorted) {
    const last = runs.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else runs.push([number, number]);
  }
  return runs.map(([from, to]) => (from === to ? String(from) : `${from}–${to}`)).join(", ");
}

function box(x: number, y: number, width: number, height: number): Frame {
  return { left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2 };
}

function inside(own: Frame, frame: Frame): boolean {
  return own.left >= frame.left && own.right <= frame.right && own.top >= frame.top && own.bottom <= frame.bottom;
}

function overlap(a: Frame, b: Frame): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
