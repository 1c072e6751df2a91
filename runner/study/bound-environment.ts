import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { link, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory, syncDirectory } from "../base/durable.ts";
import { hasCode, RunnerError } from "../base/errors.ts";

const KEY_FILE = "environment.key";
const KEY_BYTES = 32;

/** What a host variable was: a keyed digest of its name and value, or null where it was not set. */
export type BoundEnvironment = Readonly<Record<string, string | null>>;

/**
 * Binds the values that a study lets its tasks have of the host. The values themselves have no place in a plan, and neither have plain
 * digests, because a short value would be found again by trying; so each is bound under a random key of this machine's, which is in no
 * evidence: equal values have equal digests here, and nobody else can tell anything from them.
 * @throws RunnerError `ENVIRONMENT_KEY` for a key file that holds none.
 */
export async function bindEnvironment(
  stateDir: string,
  names: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<BoundEnvironment> {
  if (names.length === 0) return {};
  const key = await readKey(stateDir);
  return Object.fromEntries(
    [...new Set(names)].map((name) => {
      const value = env[name];
      const mac = createHmac("sha256", key)
        .update(JSON.stringify([name, value]))
        .digest("hex");
      return [name, value === undefined ? null : `hmac-sha256:${mac}`];
    }),
  );
}

async function readKey(stateDir: string): Promise<Buffer> {
  const path = join(stateDir, KEY_FILE);
  const key = await readFile(path).catch((thrown: unknown) => {
    if (hasCode(thrown, "ENOENT")) return makeKey(stateDir, path);
    throw thrown;
  });
  if (key.length === KEY_BYTES) return key;
  throw new RunnerError("environment", "ENVIRONMENT_KEY", `${path} has ${key.length} bytes, expected ${KEY_BYTES}`, {
    hint: "Put the key back from a copy, or remove the file: plans that were made under the old key then have to be made again.",
  });
}

/** Of several processes that make the key at once, all get that of the first. */
async function makeKey(stateDir: string, path: string): Promise<Buffer> {
  await makeDirectory(stateDir);
  const temporary = join(stateDir, `.${randomUUID()}.tmp`);
  try {
    await writeFile(temporary, randomBytes(KEY_BYTES), { mode: 0o600, flag: "wx", flush: true });
    await link(temporary, path).catch((thrown: unknown) => {
      if (!hasCode(thrown, "EEXIST")) throw thrown;
    });
    await syncDirectory(stateDir);
  } finally {
    await rm(temporary, { force: true });
  }
  return readFile(path);
}
