import { relative, resolve } from "node:path";
import { RunnerError } from "../base/errors.ts";
import { generateTasks, generatorFamilies } from "../task/generate.ts";
import type { Run } from "./command.ts";
import type { OPTIONS } from "./options.ts";

export const run: Run<typeof OPTIONS.tasksGenerate> = async ({ seed, out, count, json }, [family], io) => {
  if (family === undefined) {
    const known = await generatorFamilies(io.projectRoot, io.signal);
    throw new RunnerError("usage", "FAMILY_MISSING", "expected a family of tasks", {
      hint: `Name one of ${known.join(", ")}.`,
    });
  }
  const { tasks } = await generateTasks({
    projectRoot: io.projectRoot,
    family,
    seed,
    out: resolve(io.cwd, out),
    count: count ?? 1,
    signal: io.signal,
  });
  const faulty = tasks.filter(({ faults }) => faults.length > 0);
  if (json) io.out(`${JSON.stringify({ ok: faulty.length === 0, tasks })}\n`);
  else {
    for (const { path, faults } of tasks) {
      const proof =
        faults.length === 0 ? "proven on this host: oracle 1, nop 0, every trap 0" : `NOT PROVEN: ${faults.join("; ")}`;
      io.out(`${relative(io.cwd, path)}: ${proof}\n`);
    }
  }
  return faulty.length === 0 ? 0 : 1;
};
