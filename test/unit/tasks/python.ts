import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository. */
export const root = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));
const folder = join(root, "test", "tasks");
const CHECK = "import sys; sys.exit(sys.version_info < (3, 11))";

/** The result of a Python program of test/tasks; the code is null when it did not run to its end. */
export interface PythonRun {
  readonly code: number | null;
  readonly output: string;
}

/**
 * Command and leading arguments that start a Python of at least 3.11: the host's, or the verifier image's, in which
 * the repository is mounted read-only at its own path. Throws when there is neither.
 */
async function interpreter(): Promise<readonly string[]> {
  const mount = ["-v", `${root}:${root}:ro`, "-w", folder];
  const image = ["docker", "run", "--rm", "--network", "none", ...mount, "jacobian-runner/verifier", "python3"];
  for (const command of [["python3"], image]) {
    if ((await execute(command, ["-c", CHECK])).code === 0) return command;
  }
  throw new Error(
    "test/tasks: neither python3 (3.11 or newer) nor the image jacobian-runner/verifier is here; install python3 or run `runner images build`",
  );
}

function execute(command: readonly string[], args: readonly string[]): Promise<PythonRun> {
  const [program = "", ...lead] = command;
  const options = { cwd: folder, maxBuffer: 16 * 1024 * 1024, timeout: 540_000 };
  return new Promise((settle) => {
    const child = execFile(program, [...lead, ...args], options, (_error, stdout, stderr) => {
      settle({ code: child.exitCode, output: `${stdout}${stderr}` });
    });
  });
}

/** Runs Python with arguments in test/tasks; standard output and error come back joined. */
export async function python(args: readonly string[]): Promise<PythonRun> {
  return execute(await interpreter(), ["-B", ...args]);
}
