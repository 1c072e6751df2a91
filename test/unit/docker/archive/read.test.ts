import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import fc from "fast-check";
import { pack } from "tar-stream";
import { expect, test } from "vitest";
import { packBuffer } from "../../../../runner/docker/archive/pack.ts";
import { type ArchiveLimits, readArchive } from "../../../../runner/docker/archive/read.ts";

interface ReadOptions {
  readonly root?: string;
  readonly limits?: ArchiveLimits;
  readonly chunk?: number;
}

/** Reads an archive and gives every accepted entry with its content. */
async function read(tar: Buffer, { root = "/app", limits, chunk = 700 }: ReadOptions = {}) {
  const found: Record<string, unknown> = {};
  const pieces = Array.from({ length: Math.ceil(tar.length / chunk) }, (_, at) =>
    tar.subarray(at * chunk, (at + 1) * chunk),
  );
  const summary = await readArchive(Readable.from(pieces), {
    root,
    ...(limits === undefined ? {} : { limits }),
    onEntry: async ({ path, ...rest }, body) => {
      found[path] = body === null ? rest : { ...rest, content: String(await buffer(body)) };
    },
  });
  const { entries, ...rest } = summary;
  expect(entries).toBe(Object.keys(found).length);
  return { found, ...rest };
}

type RawHeader = Parameters<ReturnType<typeof pack>["entry"]>[0];

/** An archive of any headers, hostile ones too. */
async function raw(...headers: readonly (readonly [RawHeader, string?])[]): Promise<Buffer> {
  const archive = pack();
  for (const [header, content] of headers) archive.entry(header, content ?? "");
  archive.finalize();
  const parts: Buffer[] = [];
  for await (const part of archive) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

/** An archive that GNU tar made of what a shell line left in a folder. */
function gnuTar(line: string, ...options: string[]): Buffer {
  const folder = mkdtempSync(join(tmpdir(), "gnu-"));
  try {
    execFileSync("sh", ["-ec", line], { cwd: folder });
    return execFileSync("tar", ["-c", "-C", folder, ...options, "app"], { maxBuffer: 64 * 1024 * 1024 });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const directory: readonly [RawHeader] = [{ name: "app/", type: "directory", mode: 0o755 }];

test("a folder's files come with paths below the root, permission bits without set-id, and content (H5)", async () => {
  const tar = gnuTar(
    "mkdir -p app/d; printf run > app/d/build.sh; chmod 6755 app/d/build.sh; chmod 1777 app; : > app/empty",
  );
  expect(await read(tar)).toEqual({
    found: {
      "": { type: "directory", mode: 0o777 },
      d: { type: "directory", mode: 0o755 },
      "d/build.sh": { type: "file", mode: 0o755, size: 3, content: "run" },
      empty: { type: "file", mode: 0o644, size: 0, content: "" },
    },
    entries_: undefined,
    bytes: 3,
    refused: [],
    refusedTotal: 0,
    truncatedBy: null,
  });
});

test("a single file is the root itself", async () => {
  const tar = await packBuffer([{ type: "file", path: "submission.json", content: "{}" }]);
  expect((await read(tar, { root: "/app/submission.json" })).found).toEqual({
    "": { type: "file", mode: 0o644, size: 2, content: "{}" },
  });
});

test("a submission that is a link is refused, wherever it leads (B4)", async () => {
  const tar = await packBuffer([{ type: "symlink", path: "submission.json", target: "/tests/input.json" }]);
  expect(await read(tar, { root: "/app/submission.json" })).toMatchObject({
    found: {},
    refused: [{ path: "", reason: "link-leaves-root", detail: "/tests/input.json" }],
  });
});

test("links that stay inside are kept, links that leave are listed, and nothing below a link is taken (H3)", async () => {
  const tar = await raw(
    directory,
    [{ name: "app/x", type: "symlink", linkname: "/etc" }],
    [{ name: "app/x/cron.d/pwn" }, "evil"],
    [{ name: "app/y", type: "symlink", linkname: "d/../data" }],
    [{ name: "app/z", type: "symlink", linkname: "x/passwd" }],
    [{ name: "app/gone", type: "symlink", linkname: "nothing" }],
    [{ name: "app/data" }, "1"],
    [{ name: "app/h", type: "link", linkname: "app/data" }],
    [{ name: "app/i", type: "link", linkname: "etc/shadow" }],
    [{ name: "app/j", type: "link", linkname: "../etc/shadow" }],
    [{ name: "app/k", type: "link", linkname: "app/x" }],
  );
  expect(await read(tar)).toEqual({
    found: {
      "": { type: "directory", mode: 0o755 },
      data: { type: "file", mode: 0o644, size: 1, content: "1" },
      h: { type: "hardlink", target: "data" },
      y: { type: "symlink", target: "d/../data", resolved: "data", dangling: false },
      gone: { type: "symlink", target: "nothing", resolved: "nothing", dangling: true },
    },
    bytes: 1,
    refused: [
      { path: "x/cron.d/pwn", reason: "path-conflict" },
      { path: "i", reason: "link-leaves-root", detail: "etc/shadow" },
      { path: "j", reason: "link-leaves-root", detail: "../etc/shadow" },
      { path: "k", reason: "link-target-refused", detail: "app/x" },
      { path: "x", reason: "link-leaves-root", detail: "/etc" },
      { path: "z", reason: "link-leaves-root", detail: "x/passwd" },
    ],
    refusedTotal: 6,
    truncatedBy: null,
  });
});

test("pipes and devices are refused by their type, and a link to a pipe hangs in the air (H4)", async () => {
  const tar = gnuTar("mkdir app; mkfifo app/p; ln -s p app/q");
  const devices = await raw(
    directory,
    [{ name: "app/c", type: "character-device", devmajor: 1, devminor: 3 }],
    [{ name: "app/b", type: "block-device", devmajor: 8 }],
  );
  expect(await read(tar)).toMatchObject({
    found: { q: { type: "symlink", dangling: true } },
    refused: [{ path: "p", reason: "fifo" }],
  });
  expect((await read(devices)).refused).toEqual([
    { path: "c", reason: "device" },
    { path: "b", reason: "device" },
  ]);
});

test("paths that climb, repeat or belong to another root are refused", async () => {
  const tar = await raw(
    directory,
    [{ name: "app/../../etc/passwd" }, "1"],
    [{ name: "/app/absolute" }, "2"],
    [{ name: "other/file" }, "3"],
    [{ name: "app/twice" }, "4"],
    [{ name: "app/twice" }, "5"],
    [{ name: "app/twice/below" }, "6"],
  );
  expect(await read(tar)).toMatchObject({
    found: { twice: { type: "file", content: "4" } },
    refused: [
      { path: "app/../../etc/passwd", reason: "bad-path" },
      { path: "/app/absolute", reason: "bad-path" },
      { path: "other/file", reason: "bad-path" },
      { path: "twice", reason: "path-conflict" },
      { path: "twice/below", reason: "path-conflict" },
    ],
  });
  await expect(read(await raw([{ name: "elsewhere/" }]))).rejects.toMatchObject({ code: "ARCHIVE_ROOT" });
});

test("names that are not UTF-8 are refused, because two of them could become one", async () => {
  const tar = gnuTar(
    `mkdir app; printf 1 > "$(printf 'app/\\377')"; printf 2 > "$(printf 'app/\\376')"; printf 3 > app/é`,
  );
  const { found, refused } = await read(tar);
  expect(Object.keys(found).sort()).toEqual(["", "é"]);
  expect(refused.map(({ reason }) => reason)).toEqual(["not-utf8", "not-utf8"]);
});

test("long names are whole in every format, and sparse files are refused in both of theirs", async () => {
  const long = `${"n".repeat(200)}/${"m".repeat(200)}`;
  for (const format of ["gnu", "pax"]) {
    const tar = gnuTar(
      `mkdir -p app/${"n".repeat(200)}; printf x > app/${long}; ln -s ${long} app/l; truncate -s 1M app/sparse; printf z >> app/sparse`,
      `--format=${format}`,
      "--sparse",
    );
    const { found, refused } = await read(tar);
    expect(found[long]).toEqual({ type: "file", mode: 0o644, size: 1, content: "x" });
    expect(found.l).toEqual({ type: "symlink", target: long, resolved: long, dangling: false });
    expect(refused).toEqual([{ path: expect.stringContaining("sparse"), reason: "sparse-or-unknown-type" }]);
  }
});

test("a file over its limit is passed over and listed; the limits of the whole end the reading and say so", async () => {
  const tar = await raw(directory, [{ name: "app/a" }, "12345"], [{ name: "app/b" }, "1"], [{ name: "app/c" }, "22"]);
  expect(await read(tar, { limits: { fileBytes: 4 } })).toMatchObject({
    found: { b: { content: "1" }, c: { content: "22" } },
    refused: [{ path: "a", reason: "file-too-large", detail: "5 bytes" }],
    truncatedBy: null,
  });
  const few = await read(tar, { limits: { entries: 2 } });
  expect([Object.keys(few.found), few.truncatedBy]).toEqual([["", "a"], "entries"]);
  const small = await read(tar, { limits: { totalBytes: 6 } });
  expect([Object.keys(small.found), small.bytes, small.truncatedBy]).toEqual([["", "a", "b"], 6, "totalBytes"]);
});

test("refusals are listed up to a thousand and all counted", async () => {
  const fifos = Array.from({ length: 1500 }, (_, index) => [{ name: `app/${index}`, type: "fifo" as const }] as const);
  const { refused, refusedTotal } = await read(await raw(directory, ...fifos));
  expect([refused.length, refusedTotal]).toEqual([1000, 1500]);
});

test("an archive cut anywhere is torn, also between two entries and before its end marker", async () => {
  const tar = await raw(directory, [{ name: "app/a" }, "1".repeat(700)], [{ name: "app/b" }, "2"]);
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: tar.length - 1 }), async (kept) => {
      await expect(read(tar.subarray(0, kept))).rejects.toMatchObject({ code: "ARCHIVE_TORN" });
    }),
    { numRuns: 60 },
  );
  for (const kept of [512, 1024, 3072]) {
    await expect(read(tar.subarray(0, kept))).rejects.toMatchObject({ code: "ARCHIVE_TORN" });
  }
  await expect(read(Buffer.from("no tar at all".repeat(100)))).rejects.toMatchObject({ code: "ARCHIVE_TORN" });
});

test("a source that breaks is a torn archive, and an error of the consumer is the consumer's", async () => {
  const source = Readable.from(
    (async function* () {
      yield (await raw(directory)).subarray(0, 512);
      throw new Error("connection reset");
    })(),
  );
  await expect(readArchive(source, { root: "/app", onEntry: () => undefined })).rejects.toMatchObject({
    code: "ARCHIVE_TORN",
    message: "the archive of /app is not whole: connection reset",
  });
  const failure = new Error("store is full");
  await expect(
    readArchive(Readable.from([await raw(directory)]), { root: "/app", onEntry: () => Promise.reject(failure) }),
  ).rejects.toBe(failure);
});

test("content that nobody reads, or only its beginning, is drained, and however the archive is cut the result is the same", async () => {
  const tar = await raw(directory, [{ name: "app/a" }, "1".repeat(5000)], [{ name: "app/b" }, "2"]);
  const paths: string[] = [];
  await readArchive(Readable.from([tar]), { root: "/app", onEntry: ({ path }) => void paths.push(path) });
  expect(paths).toEqual(["", "a", "b"]);
  const beginnings: number[] = [];
  await readArchive(Readable.from([tar.subarray(0, 1600), tar.subarray(1600)]), {
    root: "/app",
    onEntry: async (_, body) => {
      for await (const part of body ?? []) {
        beginnings.push(part[0] ?? 0);
        break;
      }
    },
  });
  expect(String.fromCharCode(...beginnings)).toBe("12");
  const whole = await read(tar, { chunk: tar.length });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 1500 }), async (chunk) => {
      expect(await read(tar, { chunk })).toEqual(whole);
    }),
    { numRuns: 30 },
  );
});

test("an abort ends the reading as an interruption", async () => {
  const stop = new AbortController();
  const tar = await raw(directory, [{ name: "app/a" }, "1".repeat(5000)]);
  await expect(
    readArchive(Readable.from([tar.subarray(0, 512), tar.subarray(512)]), {
      root: "/app",
      signal: stop.signal,
      onEntry: () => stop.abort(),
    }),
  ).rejects.toMatchObject({ kind: "interrupted", code: "ABORTED" });
});
