import type { Run } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import type { OPTIONS } from "./options.ts";
import { bashCompletion, referencePage } from "./reference.ts";

export const run: Run<typeof OPTIONS.reference> = async ({ completion }, _positionals, io) => {
  io.out(completion ? bashCompletion(COMMANDS) : referencePage(COMMANDS));
  return 0;
};
