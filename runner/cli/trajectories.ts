import { resolve } from "node:path";
import { requireEmpty } from "../evidence/bundle.ts";
import { exportTrajectories } from "../study/export-trajectories.ts";
import type { Run } from "./command.ts";
import type { OPTIONS } from "./options.ts";

export const run: Run<typeof OPTIONS.trajectories> = async (options, [folder = ""], io) => {
  const out = resolve(io.cwd, options.out);
  await requireEmpty(out);
  const result = await exportTrajectories(resolve(io.cwd, folder), options.reportSha256 ?? null, out);
  if (options.json) io.out(`${JSON.stringify({ out, ...result })}\n`);
  else {
    for (const { trial, reason } of result.without) io.say(`${trial} has no trajectory: ${reason}`);
    io.out(`${result.written.length} trajectories written below ${out}\n`);
  }
  return 0;
};
