import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { build } from "esbuild";

const ROOT = resolve(import.meta.dirname, "../..");

export interface ChildResult {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process of its own that runs a module; disposing it kills it. */
export interface Child extends AsyncDisposable {
  readonly process: ChildProcess;
  /** The first line it prints. */
  readonly firstLine: Promise<string>;
  readonly result: Promise<ChildResult>;
}

/**
 * Runs a TypeScript module in a process of its own, since killing, namespaces and exit codes need one.
 * @param source its text; imports are relative to the repository's root.
 * @param wrapper a command line before `node`, as `unshare --mount`.
 */
export async function runModule(
  source: string,
  { wrapper = [], env = process.env }: { readonly wrapper?: readonly string[]; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<Child> {
  const folder = join(ROOT, "node_modules/.cache/test-modules");
  await mkdir(folder, { recursive: true });
  // Below node_modules, so that the packages it imports are found.
  const outfile = join(folder, `${randomUUID()}.mjs`);
  await build({
    stdin: { contents: source, resolveDir: ROOT, loader: "ts" },
    outfile,
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "silent",
  });
  const [program = "", ...args] = [...wrapper, process.execPath, outfile];
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env });
  const output = { stdout: "", stderr: "" };
  const firstLine = new Promise<string>((resolveLine, reject) => {
    child.stdout.on("data", (chunk) => {
      output.stdout += chunk;
      if (output.stdout.includes("\n")) resolveLine(output.stdout.slice(0, output.stdout.indexOf("\n")));
    });
    child.once("close", () => reject(new Error(`the child ended without a line: ${output.stderr}`)));
  });
  firstLine.catch(() => undefined);
  child.stderr.on("data", (chunk) => {
    output.stderr += chunk;
  });
  const closed = once(child, "close") as Promise<[number | null, string | null]>;
  const result = closed.then(([code, signal]) => ({ code, signal, ...output }));
  return {
    process: child,
    firstLine,
    result,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      await result;
      await rm(outfile, { force: true });
    },
  };
}
