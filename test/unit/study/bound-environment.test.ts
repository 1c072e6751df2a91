import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { bindEnvironment } from "../../../runner/study/bound-environment.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "environment-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

test("equal values are bound alike on one machine, other values and unset ones otherwise, and no value can be read", async () => {
  const names = ["REGION", "TIER", "NONE", "EMPTY"];
  const env = { REGION: "eu", TIER: "eu", EMPTY: "" };
  const bound = await bindEnvironment(dir, names, env);
  expect(await bindEnvironment(dir, names, env)).toEqual(bound);
  expect(Object.keys(bound)).toEqual(names);
  expect(bound.NONE).toBeNull();
  const macs = [bound.REGION, bound.TIER, bound.EMPTY];
  // The name is bound with the value, so that two variables with one value do not show it.
  expect(new Set(macs).size).toBe(3);
  for (const mac of macs) expect(mac).toMatch(/^hmac-sha256:[0-9a-f]{64}$/);
  expect((await bindEnvironment(dir, names, { ...env, REGION: "us" })).REGION).not.toBe(bound.REGION);
});

test("the key is this machine's own, readable by its owner alone; another machine's digests are others", async () => {
  const bind = (place: string) => bindEnvironment(join(dir, place), ["REGION"], { REGION: "eu" });
  // Whoever makes the key first, all of a machine have the same.
  const [here, again] = await Promise.all([bind("here"), bind("here")]);
  expect(again).toEqual(here);
  expect(await bind("there")).not.toEqual(here);
  expect(await readdir(join(dir, "here"))).toEqual(["environment.key"]);
  const info = await stat(join(dir, "here", "environment.key"));
  expect([info.size, info.mode & 0o777]).toEqual([32, 0o600]);
});

test("a study that allows no variable makes no key, and a key file that holds none is refused", async () => {
  expect(await bindEnvironment(join(dir, "none"), [], { REGION: "eu" })).toEqual({});
  expect(await readdir(dir)).toEqual([]);
  await writeFile(join(dir, "environment.key"), "short");
  await expect(bindEnvironment(dir, ["REGION"], {})).rejects.toMatchObject({ code: "ENVIRONMENT_KEY" });
  expect(await readFile(join(dir, "environment.key"), "utf8")).toBe("short");
});
