import { resolve } from "node:path";
import { verifyBundle } from "../study/verify-bundle.ts";
import type { Run } from "./command.ts";
import type { OPTIONS } from "./commands.ts";

export const run: Run<typeof OPTIONS.verify> = async ({ reportSha256, json }, [dir = ""], io) => {
  const result = await verifyBundle(resolve(io.cwd, dir), reportSha256, io.signal);
  if (json) io.out(`${JSON.stringify(result)}\n`);
  else {
    for (const reason of result.reasons) io.out(`refused: ${reason}\n`);
    io.out(
      result.valid
        ? `valid: ${result.kind}, ${result.trials} trials, ${result.objects} objects, ${result.bytes} bytes; every digest and every derived value came out again\n`
        : `INVALID: ${result.reasons.length} reasons\n`,
    );
  }
  return result.valid ? 0 : 1;
};
