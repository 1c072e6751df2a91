import { relative, resolve } from "node:path";
import { scaffoldTask } from "../task/scaffold/scaffold.ts";
import type { Run } from "./command.ts";
import type { OPTIONS } from "./options.ts";

export const run: Run<typeof OPTIONS.tasksNew> = async ({ dataset, harbor, json }, [name = ""], io) => {
  const { files } = await scaffoldTask({
    dataset: resolve(io.cwd, dataset ?? `${io.projectRoot}/tasks`),
    name,
    harbor,
  });
  io.out(
    json ? `${JSON.stringify({ name, files })}\n` : files.map((file) => `wrote ${relative(io.cwd, file)}\n`).join(""),
  );
  const where = dataset === undefined ? "" : ` --dataset ${shellWord(dataset)}`;
  io.say(
    `Next: edit these files, then \`runner tasks check ${name}${where}\` and \`runner oracle --tasks ${name}${where}\`.`,
  );
  return 0;
};

/** The text as one word for a shell, quoted only where it must be. */
function shellWord(text: string): string {
  return /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
