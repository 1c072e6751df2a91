import { relative, resolve } from "node:path";
import { scaffoldTask } from "../task/scaffold/scaffold.ts";
import type { Run } from "./command.ts";
import type { OPTIONS } from "./commands.ts";

export const run: Run<typeof OPTIONS.tasksNew> = async ({ dataset, harbor, json }, [name = ""], io) => {
  const { files } = await scaffoldTask({
    dataset: resolve(io.cwd, dataset ?? `${io.projectRoot}/tasks`),
    name,
    harbor,
  });
  io.out(
    json ? `${JSON.stringify({ name, files })}\n` : files.map((file) => `wrote ${relative(io.cwd, file)}\n`).join(""),
  );
  io.say(`Next: edit these files, then \`runner tasks check ${name}\` and \`runner oracle --tasks ${name}\`.`);
  return 0;
};
