import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROOT, writeFiles } from "../../../support/e2e.ts";

const SEAL = join(ROOT, "images", "agent-qwen-coder", "seal.cjs");

/** Asks for a path in every way that Node has, and prints what came of each: text, `yes`, or an error's code. */
const PROBE = `
import fs, { existsSync, readFileSync, statSync } from "node:fs";
import { readFile as promised, stat as promisedStat } from "node:fs/promises";
const tell = async (ask) => { try { return await ask(); } catch (error) { return error.code; } };
const classic = (name, path) => new Promise((done) => fs[name](path, (error, value) => done(error === null ? String(value) : error.code)));
const out = {};
for (const path of process.argv.slice(2)) {
  out[path] = [
    await tell(() => existsSync(path)),
    await tell(() => readFileSync(path, "utf8")),
    await tell(() => statSync(path, { throwIfNoEntry: false }) === undefined ? "absent" : "yes"),
    await tell(() => promised(path, "utf8")),
    await tell(async () => (await promisedStat(path), "yes")),
    await tell(() => promised(new URL("file://" + path), "utf8")),
    await classic("readFile", path),
    await tell(() => fs.readdirSync(path.slice(0, path.lastIndexOf("/"))).length > 0),
  ];
}
console.log(JSON.stringify(out));
`;

let dir: string;
beforeAll(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), "seal-")));
  await writeFiles(dir, {
    "probe.mjs": PROBE,
    "work/.qwen/settings.json": "planted",
    "work/.env": "planted",
    "work/sub/.env": "data",
    "work/notes.qwen/a": "data",
    ".qwen/rules/a.md": "planted",
    "home/qwen/settings.json": "own",
    "home/.qwen/x": "planted",
    "home/.env": "planted",
  });
});
afterAll(() => rm(dir, { recursive: true, force: true }));

test("settings and rules of a task are absent for the program however it asks, its own and all other files are there", async () => {
  const paths = [
    "work/.qwen/settings.json",
    ".qwen/rules/a.md",
    "home/.qwen/x",
    "home/qwen/settings.json",
    "work/notes.qwen/a",
    "work/sub/.env",
    "work/.env",
    "home/.env",
  ].map((path) => join(dir, path));
  const { stdout } = await execa(process.execPath, ["--require", SEAL, join(dir, "probe.mjs"), ...paths], {
    cwd: join(dir, "work"),
    env: { QWEN_HOME: join(dir, "home", "qwen"), HOME: join(dir, "home") },
  });
  const hidden = [false, "ENOENT", "absent", "ENOENT", "ENOENT", "ENOENT", "ENOENT", "ENOENT"];
  const open = (text: string) => [true, text, "yes", text, "yes", text, text, true];
  // The program looks for .env files by existsSync alone; the model may read them.
  const unseen = [false, "planted", "yes", "planted", "yes", "planted", "planted", true];
  expect(Object.values(JSON.parse(stdout))).toEqual([
    hidden,
    hidden,
    hidden,
    open("own"),
    open("data"),
    open("data"),
    unseen,
    unseen,
  ]);
});

test("a command that the program starts sees every file", async () => {
  const script = `console.log(require("node:child_process").execFileSync("cat", [".qwen/settings.json"]).toString())`;
  const { stdout } = await execa(process.execPath, ["--require", SEAL, "-e", script], {
    cwd: join(dir, "work"),
    env: { QWEN_HOME: join(dir, "home", "qwen"), HOME: join(dir, "home") },
  });
  expect(stdout).toBe("planted");
});

test("only megabytes of bytes, such as the program's own modules of them, have no keys to list", async () => {
  const script =
    "console.log(JSON.stringify([70000, 3].map((n) => Object.getOwnPropertyNames(new Uint8Array(n)).length)))";
  const { stdout } = await execa(process.execPath, ["--require", SEAL, "-e", script], {
    cwd: dir,
    env: { QWEN_HOME: join(dir, "home", "qwen"), HOME: join(dir, "home") },
  });
  expect(JSON.parse(stdout)).toEqual([0, 3]);
});
