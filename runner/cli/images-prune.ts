import { ensureEngine } from "../docker/ensure-engine.ts";
import { pruneRuntimeVolumes } from "../docker/runtime-volume.ts";
import { readLock } from "../image/lock.ts";
import { pruneImages } from "../image/prune-images.ts";
import { stateDirOf } from "../study/task-images.ts";
import type { Run } from "./command.ts";
import type { OPTIONS } from "./options.ts";

export const run: Run<typeof OPTIONS.imagesPrune> = async ({ json }, _positionals, io) => {
  await using engine = await ensureEngine({ fix: false, report: io.say, signal: io.signal, env: io.env });
  const lock = await readLock(stateDirOf(io.projectRoot));
  const keep = new Set<string>(Object.values(lock?.images ?? {}).map(({ imageId }) => imageId));
  const volumes = await pruneRuntimeVolumes(engine, (image) => keep.has(image), { signal: io.signal });
  const images = await pruneImages({ docker: engine.docker, keep, signal: io.signal });
  const removed = [...volumes.removed, ...images.removed];
  const inUse = [...volumes.inUse, ...images.inUse];
  if (json) io.out(`${JSON.stringify({ removed, inUse })}\n`);
  else {
    for (const name of removed) io.out(`removed ${name}\n`);
    for (const name of inUse) io.out(`in use  ${name}\n`);
    io.say(`${removed.length} removed, ${inUse.length} in use, ${keep.size} locked images kept`);
  }
  return 0;
};
