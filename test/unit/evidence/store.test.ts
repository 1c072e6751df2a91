import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { digestBytes } from "../../../runner/base/digest.ts";
import { listObjects, type ObjectStore, objectPath, openStore } from "../../../runner/evidence/store.ts";

let dir: string;
let store: ObjectStore;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "store-"));
  store = await openStore(dir);
});
afterEach(() => rm(dir, { recursive: true }));

async function* chunks(...parts: string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
}

test("equal bytes are one object, however they arrive", async () => {
  const whole = await store.put("héllo");
  const streamed = await store.putStream(chunks("h", "éll", "o"));
  await store.sync();
  expect(streamed).toEqual(whole);
  expect(whole).toEqual({ digest: digestBytes("héllo"), size: 6 });
  expect(await store.readAll(whole)).toEqual(Buffer.from("héllo"));
  expect(await listObjects(dir)).toEqual({ digests: new Set([whole.digest]), strays: [] });
});

test("a source that fails leaves nothing behind", async () => {
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.from("half");
    throw new Error("torn");
  }
  await expect(store.putStream(broken())).rejects.toThrow("torn");
  expect(await readdir(join(dir, "objects", "tmp"))).toEqual([]);
  expect((await listObjects(dir)).digests.size).toBe(0);
});

test("changed, shortened, missing and linked objects are told apart", async () => {
  const changed = await store.put("changed");
  const short = await store.put("short");
  const missing = await store.put("missing");
  const linked = await store.put("linked");
  await writeFile(store.path(changed.digest), "CHANGED");
  await writeFile(store.path(short.digest), "sh");
  await rm(store.path(missing.digest));
  await rm(store.path(linked.digest));
  await writeFile(join(dir, "elsewhere"), "linked");
  await symlink(join(dir, "elsewhere"), store.path(linked.digest));
  const codes = await Promise.all(
    [changed, short, missing, linked].map((ref) => store.readAll(ref).catch((error: { code: string }) => error.code)),
  );
  expect(codes).toEqual(["OBJECT_CHANGED", "OBJECT_CHANGED", "OBJECT_MISSING", "OBJECT_SPECIAL"]);
});

test("files that are no objects are reported as strays", async () => {
  await mkdir(join(dir, "objects", "sha256", "zz"), { recursive: true });
  await writeFile(join(dir, "objects", "sha256", "zz", "note"), "");
  await writeFile(join(dir, "objects", "README"), "");
  expect((await listObjects(dir)).strays.sort()).toEqual(["objects/README", "objects/sha256/zz/note"]);
});

test("a torn write of an earlier process is cleared when the store opens", async () => {
  await writeFile(join(dir, "objects", "tmp", "torn"), "half");
  await openStore(dir);
  expect(await readdir(join(dir, "objects", "tmp"))).toEqual([]);
  expect(objectPath(digestBytes(""))).toBe(
    "objects/sha256/e3/b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  );
});
