import type { Run } from "./command.ts";
import { COMMANDS, type OPTIONS } from "./commands.ts";
import { bashCompletion, referencePage } from "./reference.ts";

export const run: Run<typeof OPTIONS.reference> = async ({ completion }, _positionals, io) => {
  io.out(completion ? bashCompletion(COMMANDS) : referencePage(COMMANDS));
  return 0;
};
