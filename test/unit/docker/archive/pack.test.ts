import { execFileSync } from "node:child_process";
import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type PackEntry, packArchive, packBuffer } from "../../../../runner/docker/archive/pack.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "pack-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** Unpacks with GNU tar and lists what stands there. */
async function unpacked(tar: Buffer): Promise<Record<string, string>> {
  execFileSync("tar", ["-x", "-C", folder, "--no-same-owner", "-p"], { input: tar });
  const found: Record<string, string> = {};
  for (const name of await readdir(folder, { recursive: true })) {
    const path = join(folder, name);
    const info = await lstat(path);
    const mode = (info.mode & 0o7777).toString(8);
    if (info.isSymbolicLink()) found[name] = `-> ${await readlink(path)}`;
    else if (info.isDirectory()) found[name] = `${mode} folder`;
    else found[name] = `${mode} ${await readFile(path, "utf8")}`;
  }
  return found;
}

test("files, folders, modes and links come out of GNU tar as they went in (H5)", async () => {
  const disk = join(folder, "..", `${folder.split("/").pop()}-source`);
  await writeFile(disk, "from disk");
  try {
    const tar = await packBuffer([
      { type: "directory", path: "d", mode: 0o750 },
      { type: "file", path: "d/run.sh", mode: 0o4755, content: "#!/bin/sh\n" },
      { type: "file", path: "d/none", mode: 0, content: "" },
      { type: "file", path: "disk", file: disk, size: 9 },
      { type: "symlink", path: "d/link", target: "../disk" },
      { type: "hardlink", path: "hard", target: "disk" },
    ]);
    expect(await unpacked(tar)).toEqual({
      d: "750 folder",
      "d/run.sh": "755 #!/bin/sh\n",
      "d/none": "0 ",
      disk: "644 from disk",
      "d/link": "-> ../disk",
      hard: "644 from disk",
    });
  } finally {
    await rm(disk);
  }
});

test("names of every length, where PAX record lengths gain a digit too, come out of GNU tar (H1)", async () => {
  // A record is "LENGTH path=NAME\n"; its length passes 100 and 1000 among these names, in ASCII and in two-byte characters.
  const name = (bytes: number, unit: string): string => {
    const unitBytes = Buffer.byteLength(unit);
    let text = "";
    while (Buffer.byteLength(text) + unitBytes + 1 <= bytes) {
      text += Buffer.byteLength(text.slice(text.lastIndexOf("/") + 1)) >= 100 ? "/" : unit;
    }
    return text.replace(/\/$/, "") + "x".repeat(bytes - Buffer.byteLength(text.replace(/\/$/, "")));
  };
  const lengths = [...Array.from({ length: 20 }, (_, index) => 80 + index), 100, 101, 155, 156, 255, 256, 257];
  for (let length = 980; length <= 1000; length += 1) lengths.push(length);
  for (const unit of ["a", "é"]) {
    for (const length of lengths) {
      const path = name(length, unit);
      expect(Buffer.byteLength(path)).toBe(length);
      const tar = await packBuffer([
        { type: "file", path, content: path },
        { type: "file", path: "after", content: "whole" },
      ]);
      const found = await unpacked(tar);
      expect([found[path], found.after]).toEqual([`644 ${path}`, "644 whole"]);
      await rm(folder, { recursive: true });
      await mkdir(folder);
    }
  }
});

test("the same entries give the same bytes, whether content comes whole or in pieces", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), fc.integer({ min: 1, max: 600 }), async (content, step) => {
      async function* pieces(): AsyncGenerator<Uint8Array> {
        for (let at = 0; at < content.length; at += step) yield content.subarray(at, at + step);
      }
      const whole = await packBuffer([{ type: "file", path: "f", content }]);
      const streamed = await buffer(packArchive([{ type: "file", path: "f", stream: pieces(), size: content.length }]));
      expect(streamed.equals(whole)).toBe(true);
    }),
    { numRuns: 40 },
  );
});

test("a file of another size than was said fails the archive instead of shifting what follows", async () => {
  const entry: PackEntry = {
    type: "file",
    path: "f",
    stream: (async function* () {
      yield Buffer.from("abc");
    })(),
    size: 4,
  };
  await expect(packBuffer([entry])).rejects.toMatchObject({
    code: "PACK_FAILED",
    message: "f could not be packed as 4 bytes",
  });
});

test("an archive that is given up half-way lets go of its source", async () => {
  let closed = false;
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) yield Buffer.alloc(65536);
    } finally {
      closed = true;
    }
  }
  const archive = packArchive([{ type: "file", path: "f", stream: endless(), size: 1e12 }]);
  for await (const _ of archive) break;
  while (!closed) await new Promise((resolve) => setImmediate(resolve));
  expect(archive.destroyed).toBe(true);
});

test("a path that leaves the archive is refused", async () => {
  for (const path of ["../x", "/etc/x", "a//b", "", "a/..", "a\0b", "\ud800"]) {
    await expect(packBuffer([{ type: "file", path, content: "" }])).rejects.toMatchObject({ code: "PACK_PATH" });
  }
});
