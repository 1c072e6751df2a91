import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { contextArchive, readContext } from "../../../runner/image/build-context.ts";
import { readTar } from "../../../runner/image/tar-entries.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "context-"));
  await writeFile(join(root, "Dockerfile"), "FROM a\n");
});
afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

const listed = async (): Promise<string[]> => (await readContext(root)).entries.map((entry) => entry.path);
const archive = async (text = "FROM b\n"): Promise<Buffer> =>
  await buffer(contextArchive(await readContext(root), text));

describe("readContext", () => {
  it("lists a folder sorted, hidden files, empty folders and links included", async () => {
    await mkdir(join(root, "b", "empty"), { recursive: true });
    await writeFile(join(root, "b", "x"), "1");
    await writeFile(join(root, ".hidden"), "");
    await symlink("../x", join(root, "a-link"));
    expect(await listed()).toEqual([".hidden", "Dockerfile", "a-link", "b", "b/empty", "b/x"]);
  });

  it("leaves out what .dockerignore names and keeps folders of what it takes back", async () => {
    await mkdir(join(root, "b", "c"), { recursive: true });
    await writeFile(join(root, "b", "x"), "1");
    await writeFile(join(root, "b", "c", "y"), "1");
    await writeFile(join(root, ".dockerignore"), "b\n!b/c/y\nDockerfile\n");
    expect(await listed()).toEqual([".dockerignore", "b", "b/c", "b/c/y"]);
    expect((await readContext(root)).dockerfile).toBe("FROM a\n");
  });

  it("prefers the ignore file that belongs to the Dockerfile", async () => {
    await writeFile(join(root, "x"), "1");
    await writeFile(join(root, ".dockerignore"), "*\n");
    await writeFile(join(root, "Dockerfile.dockerignore"), "x\n");
    expect(await listed()).toEqual([".dockerignore", "Dockerfile", "Dockerfile.dockerignore"]);
  });

  it("has a digest of content and execute bit alone", async () => {
    await writeFile(join(root, "run.sh"), "1", { mode: 0o644 });
    const digest = async (): Promise<string> => (await readContext(root)).digest;
    const before = await digest();
    await utimes(join(root, "run.sh"), 1, 1);
    await chmod(join(root, "run.sh"), 0o600);
    expect(await digest()).toBe(before);
    await chmod(join(root, "run.sh"), 0o755);
    expect(await digest()).not.toBe(before);
  });

  it("says so when there is no Dockerfile", async () => {
    await rm(join(root, "Dockerfile"));
    await expect(readContext(root)).rejects.toThrow(`${join(root, "Dockerfile")} is not there`);
  });

  it("refuses a FIFO by its path", async () => {
    await promisify(execFile)("mkfifo", [join(root, "pipe")]);
    await expect(readContext(root)).rejects.toThrow(
      `${join(root, "pipe")} is a socket, FIFO or device, which no build can copy`,
    );
  });
});

describe("contextArchive", () => {
  it("gives the same bytes for the same content, whatever its times", async () => {
    await writeFile(join(root, "x"), "1");
    const before = await archive();
    await utimes(join(root, "x"), 5, 5);
    expect((await archive()).equals(before)).toBe(true);
  });

  it("carries the rewritten Dockerfile once, also when it is left out of the context", async () => {
    const texts = async (): Promise<string[]> => {
      const { Readable } = await import("node:stream");
      const found: string[] = [];
      for await (const entry of readTar(Readable.from([await archive("FROM c\n")]))) {
        if (entry.path === "Dockerfile")
          for await (const part of entry.body as AsyncIterable<Buffer>) found.push(part.toString());
      }
      return found;
    };
    expect(await texts()).toEqual(["FROM c\n"]);
    await writeFile(join(root, ".dockerignore"), "*\n");
    expect(await texts()).toEqual(["FROM c\n"]);
  });
});
