import { requireDisk } from "../docker/disk.ts";
import { ensureEngine } from "../docker/ensure-engine.ts";
import { ownerLabels, thisOwner } from "../docker/ownership.ts";
import { buildImages } from "../image/build-images.ts";
import { cleanUpDeadRuns } from "../study/run-registry.ts";
import { newRunId } from "../trial/open-world.ts";
import type { Run } from "./command.ts";
import type { OPTIONS } from "./options.ts";

export const run: Run<typeof OPTIONS.imagesBuild> = async ({ only, json }, _positionals, io) => {
  await using engine = await ensureEngine({ fix: false, report: io.say, signal: io.signal, env: io.env });
  await requireDisk(engine);
  await cleanUpDeadRuns(engine, io.projectRoot, io.say, io.signal);
  const { images, built, cached, seconds } = await buildImages({
    docker: engine.docker,
    projectRoot: io.projectRoot,
    ...(only.length === 0 ? {} : { names: only }),
    labels: ownerLabels(await thisOwner(), { run: newRunId(), role: "image-build" }),
    report: io.say,
    env: io.env,
    signal: io.signal,
  });
  if (json) {
    io.out(`${JSON.stringify({ images, built, cached, seconds })}\n`);
    return 0;
  }
  for (const [name, image] of Object.entries(images)) {
    const how = built.includes(name) ? `built in ${(seconds[name] ?? 0).toFixed(1)} s` : "already here";
    io.out(`${name.padEnd(16)} ${image.imageId.slice(7, 19)} inputs ${image.inputDigest.slice(7, 19)} ${how}\n`);
    for (const { kind, name: item, pinned, built: got } of image.differences) {
      io.out(`  differs from the pins: ${kind} ${item}: pinned ${pinned ?? "none"}, built with ${got ?? "none"}\n`);
    }
  }
  return 0;
};
