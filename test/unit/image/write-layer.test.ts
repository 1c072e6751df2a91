import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { digestBytes } from "../../../runner/base/digest.ts";
import { withFiles } from "../../../runner/image/capture.ts";
import type { ImagePackage } from "../../../runner/image/packages.ts";
import { belongsToImage, watchPackages } from "../../../runner/image/select-entries.ts";
import { contentOf, directoryEntry, fileEntry, type LayerEntry, readTar } from "../../../runner/image/tar-entries.ts";
import { SOURCE_EPOCH, writeLayer } from "../../../runner/image/write-layer.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "layer-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function* all(entries: readonly LayerEntry[]): AsyncGenerator<LayerEntry> {
  yield* entries;
}

const file = (path: string, text: string, more: Partial<LayerEntry> = {}): LayerEntry => ({
  ...fileEntry(path, Buffer.from(text), 0o644),
  ...more,
});

async function read(path: string): Promise<Record<string, unknown>[]> {
  const found: Record<string, unknown>[] = [];
  for await (const entry of readTar(Readable.from([await readFile(path)]))) {
    const text = entry.type === "file" ? (await contentOf(entry)).toString() : undefined;
    found.push({
      path: entry.path,
      type: entry.type,
      mode: entry.mode,
      uid: entry.uid,
      mtime: entry.mtime,
      target: entry.target,
      text,
    });
  }
  return found;
}

describe("writeLayer", () => {
  it("writes entries in their order, late times held back, and says what it wrote", async () => {
    const long = `usr/${"deep/".repeat(40)}név.txt`;
    const body = (async function* () {
      yield Buffer.from("str");
      yield Buffer.from("eam");
    })();
    const layer = await writeLayer(
      join(folder, "a.tar"),
      all([
        directoryEntry("usr"),
        file("usr/old", "1", { mtime: 100, uid: 7, mode: 0o4755 }),
        file("usr/new", "2", { mtime: SOURCE_EPOCH + 5 }),
        file("usr/stream", "", { size: 6, body }),
        file("usr/link", "", { type: "symlink", target: "../old", mode: 0o777 }),
        file("usr/hard", "", { type: "hardlink", target: "usr/old" }),
        file(long, "3"),
      ]),
    );
    expect(await read(layer.file)).toEqual([
      { path: "usr", type: "directory", mode: 0o755, uid: 0, mtime: 0, target: null },
      { path: "usr/old", type: "file", mode: 0o4755, uid: 7, mtime: 100, target: null, text: "1" },
      { path: "usr/new", type: "file", mode: 0o644, uid: 0, mtime: SOURCE_EPOCH, target: null, text: "2" },
      { path: "usr/stream", type: "file", mode: 0o644, uid: 0, mtime: 0, target: null, text: "stream" },
      { path: "usr/link", type: "symlink", mode: 0o777, uid: 0, mtime: 0, target: "../old" },
      { path: "usr/hard", type: "hardlink", mode: 0o644, uid: 0, mtime: 0, target: "usr/old" },
      { path: long, type: "file", mode: 0o644, uid: 0, mtime: 0, target: null, text: "3" },
    ]);
    const bytes = await readFile(layer.file);
    expect([layer.diffId, layer.bytes]).toEqual([digestBytes(bytes), bytes.length]);
  });

  it("gives the same bytes for the same entries", async () => {
    const entries = [file("a", "x", { mtime: SOURCE_EPOCH + 1 }), file("b", "y", { mtime: Date.now() })];
    const one = await writeLayer(join(folder, "1.tar"), all(entries));
    const two = await writeLayer(
      join(folder, "2.tar"),
      all(entries.map((entry) => ({ ...entry, mtime: entry.mtime + 60 }))),
    );
    expect(two.diffId).toBe(one.diffId);
  });

  it.each([
    [
      file("dev/null", "", { type: "special" }),
      "/dev/null is a device, FIFO or socket, which a layer cannot carry reproducibly",
    ],
    [
      file("bin/ping", "x", { attributes: ["security.capability"] }),
      "/bin/ping has file capabilities, which a layer cannot carry reproducibly",
    ],
  ])("refuses %#", async (entry, message) => {
    await expect(writeLayer(join(folder, "x.tar"), all([entry]))).rejects.toThrow(message);
  });

  it("passes on what goes wrong at the source", async () => {
    const broken = (async function* (): AsyncGenerator<LayerEntry> {
      yield directoryEntry("a");
      throw new Error("the source broke");
    })();
    await expect(writeLayer(join(folder, "x.tar"), broken)).rejects.toThrow("the source broke");
  });
});

describe("readTar", () => {
  it("fails on an archive that is cut short", async () => {
    const layer = await writeLayer(join(folder, "a.tar"), all([file("a", "x".repeat(5000))]));
    const cut = (await readFile(layer.file)).subarray(0, 3000);
    const reading = async (): Promise<void> => {
      for await (const entry of readTar(Readable.from([cut]))) await contentOf(entry);
    };
    await expect(reading()).rejects.toThrow();
  });

  it("skips bodies that are not read", async () => {
    const layer = await writeLayer(join(folder, "a.tar"), all([file("a", "x".repeat(300_000)), file("b", "y")]));
    const paths: string[] = [];
    for await (const entry of readTar(Readable.from([await readFile(layer.file)]))) paths.push(entry.path);
    expect(paths).toEqual(["a", "b"]);
  });
});

describe("belongsToImage", () => {
  it.each([
    ["etc/passwd", true],
    ["var/cache/apt", true],
    ["var/cache/apt/pkgcache.bin", false],
    ["var/lib/apt/lists/x_Packages", false],
    ["etc/resolv.conf", false],
    ["etc/hostname", false],
    [".dockerenv", false],
    [".runner-build", false],
    [".runner-build/ca.pem", false],
    ["tmp", true],
    ["tmp/left", false],
    ["var/log/dpkg.log", false],
    ["development", true],
  ])("of %s is %s", (path, expected) => {
    expect(belongsToImage(path)).toBe(expected);
  });
});

describe("watchPackages", () => {
  it("collects Debian packages and wheels and passes every entry on whole", async () => {
    const status = "Package: a\nStatus: install ok installed\nVersion: 1\n";
    const found: ImagePackage[] = [];
    const wheel = "opt/x/lib/python3.13/site-packages/B_c-2.dist-info/METADATA";
    const layer = await writeLayer(
      join(folder, "a.tar"),
      watchPackages(all([file("var/lib/dpkg/status", status), file(wheel, "Name: B_c")]), found),
    );
    expect(found).toEqual([
      { kind: "deb", name: "a", version: "1" },
      { kind: "wheel", name: "b-c", version: "2" },
    ]);
    expect((await read(layer.file)).map(({ text }) => text)).toEqual([status, "Name: B_c"]);
  });
});

describe("withFiles", () => {
  const paths = async (
    entries: readonly LayerEntry[],
    files: readonly LayerEntry[],
    bare: boolean,
  ): Promise<string[]> => {
    const found: string[] = [];
    for await (const entry of withFiles(all(entries), files, bare)) found.push(entry.path);
    return found;
  };

  it("puts missing folders before what stands in them, once", async () => {
    const captured = [directoryEntry("opt/agent"), file("opt/agent/lib", "1")];
    expect(await paths(captured, [file("opt/agent/bin/node", "2")], true)).toEqual([
      "opt",
      "opt/agent",
      "opt/agent/lib",
      "opt/agent/bin",
      "opt/agent/bin/node",
    ]);
  });

  it("lets a file of the recipe take the place of a captured one", async () => {
    expect(await paths([file("opt/a", "1"), file("opt/b", "1")], [file("opt/a", "2")], false)).toEqual([
      "opt/b",
      "opt",
      "opt/a",
    ]);
  });
});
