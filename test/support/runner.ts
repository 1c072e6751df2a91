import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";

/** The checkout under test. */
export const PROJECT_ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Runs the built command line as a user would. */
export async function runner(
  ...args: readonly string[]
): Promise<{ readonly exitCode: number; readonly stdout: string; readonly stderr: string }> {
  const result = await execa(process.execPath, [join(PROJECT_ROOT, "bin", "runner.js"), ...args], {
    cwd: PROJECT_ROOT,
    reject: false,
    stripFinalNewline: false,
    maxBuffer: 64 * 1024 * 1024,
  });
  return { exitCode: result.exitCode ?? -1, stdout: result.stdout, stderr: result.stderr };
}
