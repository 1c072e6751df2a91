import type { Engine } from "../docker/engine.ts";
import { readContext } from "../image/build-context.ts";
import { parseDockerfile } from "../image/dockerfile.ts";
import { layerFiles } from "../image/layer-files.ts";
import { resolveImage } from "../image/resolve-base.ts";
import { baseUses } from "../image/stages.ts";
import type { ImageFiles } from "../task/lint/leaks.ts";
import type { Task } from "../task/model.ts";
import { type ImageSettings, prepareTask, readOwnImages } from "./task-images.ts";

/**
 * Builds a task's environment image and gives the files of its layers above the base, and of the base; null for a prebuilt image, whose
 * every layer is the base.
 */
export async function readImageFiles(
  engine: Engine,
  settings: ImageSettings,
  task: Task,
  report: (line: string) => void,
  signal: AbortSignal,
): Promise<ImageFiles | null> {
  const { image } = task.environment;
  if (image.kind !== "dockerfile") return null;
  const own = await readOwnImages(settings, engine, null);
  const { environment } = await prepareTask(settings, own, engine, task, report, signal);
  const { docker } = engine;
  const context = await readContext(image.context);
  const uses = baseUses(parseDockerfile(context.dockerfile), `${image.context}/Dockerfile`, {});
  const last = uses.filter(({ kind }) => kind === "from").at(-1);
  const base =
    last === undefined || !last.external
      ? null
      : await resolveImage(docker, last.reference, { maps: settings.maps, lock: own.lock, report, signal });
  const below = base === null ? 0 : ((await docker.getImage(base.imageId).inspect()).RootFS.Layers?.length ?? 0);
  return {
    layers: layerFiles(docker, environment.id, (index) => index >= below),
    base: layerFiles(docker, environment.id, (index) => index < below),
  };
}
