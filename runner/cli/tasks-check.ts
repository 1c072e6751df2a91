import { relative, resolve } from "node:path";
import { ensureEngine } from "../docker/ensure-engine.ts";
import { mapImage, parseImageMaps } from "../image/image-map.ts";
import { counted } from "../stats/wording.ts";
import { readImageFiles } from "../study/image-files.ts";
import { lintDataset } from "../task/lint/lint-dataset.ts";
import type { LintOptions } from "../task/lint/lint-task.ts";
import type { CommandIo, Run } from "./command.ts";
import type { OPTIONS } from "./options.ts";

export const run: Run<typeof OPTIONS.tasksCheck> = async (options, [task], io) => {
  const maps = parseImageMaps(options.imageMap);
  await using engine = options.layers
    ? await ensureEngine({ fix: false, report: io.say, signal: io.signal, env: io.env })
    : null;
  const linted = await lintDataset(resolve(io.cwd, options.dataset ?? `${io.projectRoot}/tasks`), {
    mapImage: (reference) => mapImage(reference, maps),
    ...(task === undefined ? {} : { tasks: new Set([task]) }),
    ...(engine === null ? {} : { image: layerReader(engine, maps, io) }),
    signal: io.signal,
  });
  const findings = linted.flatMap((result) => result.findings);
  const errors = findings.filter(({ level }) => level === "error").length;
  if (options.json) io.out(`${JSON.stringify({ ok: errors === 0, tasks: linted })}\n`);
  else {
    for (const { level, rule, task: id, file, line, message, hint } of findings) {
      const place =
        file === null
          ? id
          : `${file.startsWith("image:") ? file : relative(io.cwd, file)}${line === null ? "" : `:${line}`}`;
      io.out(`${place}: ${level} ${rule}: ${message}\n  ${hint}\n`);
    }
    io.out(
      `${counted(linted.length, "task")}: ${counted(errors, "error")}, ${counted(findings.length - errors, "warning")}\n`,
    );
  }
  return errors === 0 ? 0 : 1;
};

function layerReader(
  engine: Awaited<ReturnType<typeof ensureEngine>>,
  maps: ReturnType<typeof parseImageMaps>,
  io: CommandIo,
): NonNullable<LintOptions["image"]> {
  const images = { projectRoot: io.projectRoot, maps, buildNetwork: "default" as const, env: io.env };
  return (task) => readImageFiles(engine, images, task, io.say, io.signal);
}
