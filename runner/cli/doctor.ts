import { join } from "node:path";
import { messageOf, RunnerError } from "../base/errors.ts";
import { isUnknown } from "../base/unknown.ts";
import { freeDisk, MINIMUM_FREE_BYTES } from "../docker/disk.ts";
import { ensureEngine } from "../docker/ensure-engine.ts";
import { buildImages } from "../image/build-images.ts";
import { readLock } from "../image/lock.ts";
import { staleImages } from "../image/verify-images.ts";
import { cleanUpDeadRuns } from "../study/run-registry.ts";
import type { Run } from "./command.ts";
import type { OPTIONS } from "./options.ts";

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

export const run: Run<typeof OPTIONS.doctor> = async ({ fix, json }, _positionals, io) => {
  const checks: Check[] = [{ name: "node", ok: true, detail: process.version }];
  try {
    await using engine = await ensureEngine({ fix, report: io.say, signal: io.signal, env: io.env });
    const { facts } = engine;
    checks.push({
      name: "docker",
      ok: true,
      detail: `engine ${facts.version}, API ${facts.apiVersion}, ${facts.operatingSystem}`,
    });
    const free = await freeDisk(engine);
    checks.push(
      isUnknown(free)
        ? { name: "disk", ok: true, detail: `free space unknown: ${free.detail ?? free.unknown}` }
        : {
            name: "disk",
            ok: free >= MINIMUM_FREE_BYTES,
            detail: `${(free / 1e9).toFixed(1)} GB free at ${facts.dataRoot}`,
          },
    );
    const removed = await cleanUpDeadRuns(engine, io.projectRoot, io.say, io.signal);
    checks.push({ name: "leftovers", ok: true, detail: `${removed.length} removed` });
    checks.push(await checkImages(engine.docker, fix, io));
  } catch (thrown) {
    if (!(thrown instanceof RunnerError) || thrown.kind !== "environment" || fix) throw thrown;
    checks.push({ name: "docker", ok: false, detail: `${messageOf(thrown)}. ${thrown.hint ?? ""}` });
  }
  const ok = checks.every((check) => check.ok);
  io.out(
    json
      ? `${JSON.stringify({ ok, checks })}\n`
      : checks.map((check) => `${check.ok ? "ok  " : "FAIL"} ${check.name}: ${check.detail}\n`).join(""),
  );
  return ok ? 0 : 1;
};

async function checkImages(
  docker: Parameters<typeof buildImages>[0]["docker"],
  fix: boolean,
  io: Parameters<typeof run>[2],
): Promise<Check> {
  if (fix) {
    const { images, built } = await buildImages({
      docker,
      projectRoot: io.projectRoot,
      report: io.say,
      env: io.env,
      signal: io.signal,
    });
    return {
      name: "images",
      ok: true,
      detail: `${Object.keys(images).length} ready, ${built.length} of them built now`,
    };
  }
  const lock = await readLock(join(io.projectRoot, ".runner"));
  const missing: string[] = [];
  for (const image of Object.values(lock?.images ?? {})) {
    await docker
      .getImage(image.imageId)
      .inspect()
      .catch(() => missing.push(image.name));
  }
  if (lock === undefined)
    return { name: "images", ok: false, detail: "none has been built here; run `runner images build`" };
  const stale = await staleImages(io.projectRoot, lock, () => true);
  const wrong = [
    ...(missing.length === 0 ? [] : [`${missing.join(", ")} missing in the engine`]),
    ...(stale.length === 0 ? [] : [`${stale.join(", ")} built from other sources than those on disk`]),
  ];
  return wrong.length === 0
    ? { name: "images", ok: true, detail: `${Object.keys(lock.images).length} in the engine` }
    : { name: "images", ok: false, detail: `${wrong.join("; ")}; run \`runner images build\`` };
}
