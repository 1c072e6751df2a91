import * as Plot from "@observablehq/plot";
import type { PairEnd, PairedResult } from "../model.ts";
import { both, draw, END_COLOUR, ENDS, type Picture } from "./draw.ts";

interface Tile {
  readonly control: PairEnd;
  readonly treatment: PairEnd;
  readonly count: number;
  readonly x1: number;
  readonly x2: number;
  readonly y1: number;
  readonly y2: number;
}

const GAP = 0.008;

/** Pairs as tiles: width by how control ended, height by how the treatment did; null without pairs. */
export function mosaic({ pairs }: PairedResult): Picture | null {
  const total = pairs.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return null;
  const tiles = layOut(pairs, total);
  return {
    title: "How pairs came out",
    caption: `All ${total} planned pairs. A column's width is how often control ended so; inside it, a tile's height and colour are how the treatment ended. The area is the number of pairs. An unscored pair is in no mean.`,
    key: ENDS.filter((end) => pairs.some(({ treatment, count }) => treatment === end && count > 0)).map((end) => ({
      label: `treatment ${end}`,
      colour: END_COLOUR[end],
      mark: "box",
    })),
    ...both((width, narrow) => paint(tiles, width, narrow)),
    table: {
      head: ["control", "treatment", "pairs"],
      rows: pairs
        .filter(({ count }) => count > 0)
        .map(({ control, treatment, count }) => [control, treatment, String(count)]),
    },
  };
}

function layOut(pairs: PairedResult["pairs"], total: number): Tile[] {
  const tiles: Tile[] = [];
  let x = 0;
  for (const control of ENDS) {
    const column = pairs.filter((pair) => pair.control === control && pair.count > 0);
    const size = column.reduce((sum, { count }) => sum + count, 0);
    if (size === 0) continue;
    const width = size / total;
    let y = 0;
    for (const treatment of [...ENDS].reverse()) {
      const count = column.find((pair) => pair.treatment === treatment)?.count ?? 0;
      if (count === 0) continue;
      const height = count / size;
      tiles.push({ control, treatment, count, x1: x + GAP / 2, x2: x + width - GAP / 2, y1: y, y2: y + height });
      y += height;
    }
    x += width;
  }
  return tiles;
}

function paint(tiles: readonly Tile[], width: number, narrow: boolean): string {
  const columns = ENDS.flatMap((end) => {
    const [tile] = tiles.filter(({ control }) => control === end);
    return tile === undefined ? [] : [{ end, middle: (tile.x1 + tile.x2) / 2, wide: tile.x2 - tile.x1 }];
  });
  const room = narrow ? 0.2 : 0.09;
  return draw({
    width,
    height: narrow ? 320 : 340,
    marginTop: 30,
    marginBottom: 10,
    marginLeft: 6,
    marginRight: 6,
    x: { domain: [0, 1], axis: null },
    y: { domain: [0, 1], axis: null },
    marks: [
      Plot.rect(tiles, {
        x1: "x1",
        x2: "x2",
        y1: "y1",
        y2: "y2",
        inset: 1.5,
        r: 4,
        fill: ({ treatment }: Tile) => END_COLOUR[treatment],
        title: ({ control, treatment, count }: Tile) => `control ${control}, treatment ${treatment}: ${count}`,
      }),
      Plot.text(tiles, {
        filter: ({ y1, y2 }: Tile) => y2 - y1 > 0.07,
        x: ({ x1, x2 }: Tile) => (x1 + x2) / 2,
        y: ({ y1, y2 }: Tile) => (y1 + y2) / 2,
        text: ({ x1, x2, treatment, count }: Tile) =>
          x2 - x1 > room * 1.4 ? `${count} × ${treatment}` : String(count),
        fill: "var(--tile-ink)",
        fontSize: 15,
        fontWeight: 600,
      }),
      Plot.text(columns, {
        x: "middle",
        frameAnchor: "top",
        dy: -16,
        text: ({ end, wide }: { end: string; wide: number }) =>
          wide > room * 1.6 ? `control ${end}` : wide > room * 0.7 ? end : "",
      }),
    ],
  });
}
