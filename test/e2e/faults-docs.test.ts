import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../support/e2e.ts";

/** The numbers of the faults by their group, as the reference material lists them. */
const FAULTS: Readonly<Record<string, readonly number[]>> = {
  A: [1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 14, 15, 16, 17, 18, 20],
  B: [2, 3, 4, 5, 6, 7, 8, 9, 10, 13],
  C: [1, 2, 3, 4, 5, 7, 8, 10, 11, 12, 13, 16, 17, 18],
  D: [1, 2, 3, 4, 6, 9, 10],
  E: [1, 2, 3, 4, 5, 6, 8, 10],
  F: [1, 2, 3, 5, 6, 7, 8, 9, 10, 13, 15, 17, 18],
  G: [1, 2, 3, 4, 5, 8, 9],
  H: [1, 3, 4, 5, 6, 8, 9, 10, 11, 12],
  I: [1, 2, 3, 4, 5, 7, 8, 9, 10],
  J: [1, 2, 3, 4, 6, 7],
  K: [1, 2, 3, 5],
};

test("docs/faults.md has every fault once; every test that it names exists, and every fault has one or is said to be open", async () => {
  const rows = (await readFile(join(ROOT, "docs", "faults.md"), "utf8"))
    .split("\n")
    .flatMap((line) => /^\| ([A-K][0-9]+) \| (.+) \| (.*) \|$/.exec(line)?.slice(1, 4) ?? [])
    .reduce<string[][]>((all, cell, index) => {
      if (index % 3 === 0) all.push([]);
      all.at(-1)?.push(cell);
      return all;
    }, []);
  // Every fault once, in order, and no other.
  expect(rows.map(([id]) => id)).toEqual(
    Object.entries(FAULTS).flatMap(([group, numbers]) => numbers.map((number) => `${group}${number}`)),
  );
  const problems: string[] = [];
  for (const [id, , shown = ""] of rows) {
    const named = [...shown.matchAll(/`(test\/[^`]+)` "([^"]+)"/g)];
    if (named.length === 0 && !/^(open|a limit)/.test(shown)) problems.push(`${id}: neither a test nor a reason`);
    for (const [, file = "", title = ""] of named) {
      const text = await readFile(join(ROOT, file), "utf8").catch(() => "");
      if (!text.includes(title)) problems.push(`${id}: ${file} has no test "${title}"`);
    }
  }
  expect(problems).toEqual([]);
});
