import { ensureEngine } from "../docker/ensure-engine.ts";
import { readLock } from "../image/lock.ts";
import { pruneImages } from "../image/prune-images.ts";
import { stateDirOf } from "../study/task-images.ts";
import type { Run } from "./command.ts";
import type { OPTIONS } from "./options.ts";

export const run: Run<typeof OPTIONS.imagesPrune> = async ({ json }, _positionals, io) => {
  await using engine = await ensureEngine({ fix: false, report: io.say, signal: io.signal, env: io.env });
  const lock = await readLock(stateDirOf(io.projectRoot));
  const keep = new Set(Object.values(lock?.images ?? {}).map(({ imageId }) => imageId));
  const { removed, inUse } = await pruneImages({ docker: engine.docker, keep, signal: io.signal });
  if (json) io.out(`${JSON.stringify({ removed, inUse })}\n`);
  else {
    for (const name of removed) io.out(`removed ${name}\n`);
    for (const name of inUse) io.out(`in use  ${name}\n`);
    io.say(`${removed.length} image names removed, ${inUse.length} in use, ${keep.size} locked images kept`);
  }
  return 0;
};
