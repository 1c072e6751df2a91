import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

/** The bundles that end-to-end tests run too. */
export const bundles = join(import.meta.dirname, "../../fixtures/bundles");

/** Writes files into a fresh folder that is removed after the test; names ending in `!` become executable. */
export async function makeFolder(files: Readonly<Record<string, string | Uint8Array>>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "runner-task-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  await addFiles(root, files);
  return root;
}

/** Adds files to a folder. */
export async function addFiles(root: string, files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const path = join(root, name.replace(/!$/, ""));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
    await chmod(path, name.endsWith("!") ? 0o755 : 0o644);
  }
}

/** The least files of a task with a shared verifier. */
export const minimal: Readonly<Record<string, string>> = {
  "task.toml": '[environment]\nnetwork_mode = "no-network"\n',
  "instruction.md": "Write `x` to `/app/answer.txt`.\n",
  "environment/Dockerfile": "FROM jacobian-runner/workbench\n",
  "tests/test.sh!": "#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n",
};

/** {@link minimal} below a folder, with some files replaced or added. */
export function bundle(name: string, files: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries({ ...minimal, ...files }).map(([path, text]) => [`${name}/${path}`, text]));
}

/** What a promise was rejected with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => Promise.reject(new Error("the promise was fulfilled")),
    (thrown: unknown) => thrown,
  );
}
