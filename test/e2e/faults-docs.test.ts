import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../support/e2e.ts";

test("every test that docs/faults.md names exists, and every fault has one or is said to be open", async () => {
  const rows = (await readFile(join(ROOT, "docs", "faults.md"), "utf8"))
    .split("\n")
    .flatMap((line) => /^\| ([A-K][0-9]+) \| (.+) \| (.*) \|$/.exec(line)?.slice(1, 4) ?? [])
    .reduce<string[][]>((all, cell, index) => {
      if (index % 3 === 0) all.push([]);
      all.at(-1)?.push(cell);
      return all;
    }, []);
  expect(rows.length).toBeGreaterThan(90);
  const ids = rows.map(([id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
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
