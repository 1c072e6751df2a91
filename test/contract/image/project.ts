import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const PROJECT = fileURLToPath(new URL("../../../", import.meta.url));

/** A project folder with this project's base recipe and pins, so that its base image is found in the engine, and recipes of the test. */
export interface TestProject extends AsyncDisposable {
  readonly root: string;
  readonly put: (path: string, content: string) => Promise<void>;
}

export async function testProject(): Promise<TestProject> {
  const root = await mkdtemp(join(tmpdir(), "image-project-"));
  await cp(join(PROJECT, "images", "base"), join(root, "images", "base"), { recursive: true });
  await cp(join(PROJECT, "images", "pins.json"), join(root, "images", "pins.json")).catch(() => {});
  return {
    root,
    put: async (path, content) => {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), content);
    },
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}

/** A recipe's text. */
export function recipe(name: string, rest: object): string {
  return JSON.stringify({ schemaVersion: "1", name, about: "For a test.", ...rest });
}
