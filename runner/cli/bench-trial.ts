import type { Run } from "./command.ts";
import type { OPTIONS } from "./commands.ts";

export const run: Run<typeof OPTIONS.benchTrial> = async () => 2;
