import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { digestBytes } from "../../../runner/base/digest.ts";
import { openLedger, readLedger } from "../../../runner/evidence/ledger.ts";

let dir: string;
let path: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "ledger-"));
  path = join(dir, "ledger.jsonl");
});
afterEach(() => rm(dir, { recursive: true }));

async function write(...types: string[]): Promise<void> {
  await using ledger = await openLedger(path);
  await Promise.all(types.map((type) => ledger.append({ type })));
}

test("lines are numbered, chained and in the order of the calls", async () => {
  await write("opened", "trial-started");
  await write("closed");
  const text = await readFile(path, "utf8");
  const [first = "", second = "", third = ""] = text.split("\n");
  expect(text).toBe(
    `{"event":{"type":"opened"},"previous":null,"sequence":0}\n` +
      `{"event":{"type":"trial-started"},"previous":"${digestBytes(first)}","sequence":1}\n` +
      `{"event":{"type":"closed"},"previous":"${digestBytes(second)}","sequence":2}\n`,
  );
  const { lines, head, tornBytes } = await readLedger(path);
  expect([lines.map((line) => line.event.type), head, tornBytes]).toEqual([
    ["opened", "trial-started", "closed"],
    digestBytes(third),
    0,
  ]);
});

test("a torn last line is detected, cut off and never glued to the next record (G4)", async () => {
  await write("opened");
  await appendFile(path, '{"event":{"type":"trial-st');
  expect(await readLedger(path)).toMatchObject({ tornBytes: 26, lines: [{ event: { type: "opened" } }] });
  await write("resumed");
  expect((await readLedger(path)).lines.map((line) => line.event.type)).toEqual(["opened", "resumed"]);
});

test("separators of other alphabets inside a record do not split it (G5)", async () => {
  await using ledger = await openLedger(path);
  await ledger.append({ type: "note", text: "a\u2028b\u0085c\u000bd" });
  expect((await readLedger(path)).lines).toHaveLength(1);
});

test.each([
  ["an edited line", (text: string) => text.replace("two", "twO")],
  ["a removed line", (text: string) => text.replace(/^.*two.*\n/m, "")],
  ["swapped lines", (text: string) => text.replace(/^(.*one.*\n)(.*two.*\n)/m, "$2$1")],
  ["a doubled line", (text: string) => text.replace(/^(.*two.*\n)/m, "$1$1")],
  ["a line that is not canonical", (text: string) => text.replace('{"event"', '{ "event"')],
  ["corruption in the middle", (text: string) => text.replace('"two"', '"two')],
])("%s is refused", async (_name, edit) => {
  await write("one", "two", "three");
  await writeFile(path, edit(await readFile(path, "utf8")));
  await expect(readLedger(path)).rejects.toThrow(/line \d/);
});
