import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readGitObjects } from "../../../../runner/task/lint/git-objects.ts";
import { addFiles, makeFolder } from "../support.ts";

/** A repository with these files in objects that no reference reaches. */
async function repository(files: Readonly<Record<string, string>>): Promise<string> {
  const dir = await makeFolder(files);
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: dir, env: { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: "/dev/null" } });
  git("init", "-q");
  for (const name of Object.keys(files)) git("hash-object", "-w", name);
  return join(dir, ".git");
}

async function read(gitDir: string): Promise<string[]> {
  const seen: string[] = [];
  for await (const object of readGitObjects(gitDir)) {
    seen.push(
      "trouble" in object
        ? object.trouble
        : `${object.type} ${object.bytes.length} ${object.bytes.toString().slice(0, 9)}`,
    );
  }
  return seen.sort();
}

test("objects that nothing refers to are read, of every size, empty and many chunks long", async () => {
  const gitDir = await repository({ a: "", b: "small\n", c: "large\nxx\n".repeat(200_000), d: "blob 3\nx\n" });
  expect(await read(gitDir)).toEqual(["blob 0 ", "blob 1800000 large\nxx\n", "blob 6 small\n", "blob 9 blob 3\nx\n"]);
});

test("an object beyond 64 MiB is named instead of searched, and the others still are", async () => {
  const gitDir = await repository({ a: "x".repeat(64 * 1024 * 1024 + 1), b: "small\n" });
  const [first, second] = await read(gitDir);
  expect([first, second?.replace(/[0-9a-f]{40}/, "OID")]).toEqual([
    "blob 6 small\n",
    "the object OID has 67108865 bytes and was not searched",
  ]);
});

test("the repository's own configuration and alternates have no effect", async () => {
  const elsewhere = await repository({ secret: "of another repository\n" });
  const gitDir = await repository({ a: "own\n" });
  await addFiles(gitDir, {
    config: "[core]\n\trepositoryformatversion = 99\n",
    "objects/info/alternates": `${join(elsewhere, "objects")}\n`,
  });
  expect(await read(gitDir)).toEqual(["blob 4 own\n"]);
});
