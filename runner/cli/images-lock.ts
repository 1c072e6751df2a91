import { join, relative, resolve } from "node:path";
import { requireDisk } from "../docker/disk.ts";
import { ensureEngine } from "../docker/ensure-engine.ts";
import { ownerLabels, thisOwner } from "../docker/ownership.ts";
import { lockImages } from "../image/lock-images.ts";
import { lockSurface } from "../study/lock-surface.ts";
import { cleanUpDeadRuns } from "../study/run-registry.ts";
import { loadStudy } from "../study/study-file.ts";
import { newRunId } from "../trial/open-world.ts";
import type { Run } from "./command.ts";
import { DEMO_STUDY } from "./demo-study.ts";
import type { OPTIONS } from "./options.ts";

export const run: Run<typeof OPTIONS.imagesLock> = async (
  { study: file, surface: surfaceOnly, json },
  _positionals,
  io,
) => {
  const study = await loadStudy(file === undefined ? join(io.projectRoot, DEMO_STUDY) : resolve(io.cwd, file));
  await using engine = await ensureEngine({ fix: false, report: io.say, signal: io.signal, env: io.env });
  await requireDisk(engine);
  await cleanUpDeadRuns(engine, io.projectRoot, io.say, io.signal);
  const pins = surfaceOnly
    ? null
    : await lockImages({
        docker: engine.docker,
        projectRoot: io.projectRoot,
        labels: ownerLabels(await thisOwner(), { run: newRunId(), role: "image-build" }),
        report: io.say,
        env: io.env,
        signal: io.signal,
      });
  const images = { projectRoot: io.projectRoot, maps: [], buildNetwork: "default" as const, env: io.env };
  const locked = await lockSurface(engine, images, study, io.say, io.signal);
  if (json) {
    io.out(
      `${JSON.stringify({ written: pins?.written ?? [], changes: pins?.changes ?? {}, surface: { path: locked.path, digest: locked.digest, before: locked.before } })}\n`,
    );
    return 0;
  }
  for (const path of pins?.written ?? []) io.out(`wrote ${path}\n`);
  const { catalog, tools, server } = locked.surface;
  io.out(
    `wrote ${relative(io.cwd, locked.path)}: ${server.name} ${server.version}, ${tools.length} tools, ${catalog?.operationCount ?? "no"} operations, ${locked.digest}\n`,
  );
  if (locked.before !== null && locked.before !== locked.digest)
    io.out(`  it was ${locked.before} before: review the difference like code\n`);
  return 0;
};
