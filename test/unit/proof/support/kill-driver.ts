// Runs one command in a process of its own, so that a test can kill it. Arguments: task, options as JSON, folder.
import { runProofCommand } from "../../../../runner/proof/command.ts";
import type { Task } from "../../../../runner/proof/terms.ts";

const [task, options, cwd, root] = process.argv.slice(2) as [Task, string, string, string];
const source = { version: "0.0.0", digest: `sha256:${"0".repeat(64)}` as const, commit: "0".repeat(40), dirty: false };
await runProofCommand(
  task,
  JSON.parse(options),
  {
    out: (text) => process.stdout.write(text),
    say: () => undefined,
    env: {},
    cwd,
    signal: new AbortController().signal,
    interactive: false,
  },
  { source, root, firstWaitMs: 1 },
);
