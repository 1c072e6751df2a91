import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { CommandIo } from "../../../runner/cli/command.ts";
import { run } from "../../../runner/cli/tasks-new.ts";

let folder = "";
afterEach(() => rm(folder, { recursive: true, force: true }));

test.each([
  ["in the project's own tasks no dataset has to be named", undefined, ""],
  ["in another dataset the next commands name it", "tasks of mine", " --dataset 'tasks of mine'"],
])("%s", async (_title, dataset, named) => {
  folder = await mkdtemp(join(tmpdir(), "tasks-new-"));
  const said: string[] = [];
  const io: CommandIo = {
    out: () => undefined,
    say: (line) => void said.push(line),
    env: {},
    cwd: folder,
    projectRoot: join(folder, "project"),
    signal: new AbortController().signal,
    interactive: false,
  };
  expect(await run({ dataset, harbor: false, json: false }, ["rank-01"], io)).toBe(0);
  expect(said).toEqual([
    `Next: edit these files, then \`runner tasks check rank-01${named}\` and \`runner oracle --tasks rank-01${named}\`.`,
  ]);
});
