import { join } from "node:path";
import { type Digest, digestFile, digestJson } from "../base/digest.ts";
import { type Surface, surfaceDigest } from "../base/formats/surface.ts";
import type { ImagesLock } from "../image/lock.ts";
import { type FileList, fileSets } from "../task/file-sets.ts";
import type { Task } from "../task/model.ts";
import type { LockedImage, LockedServer, LockedTask } from "./regression-lock.ts";
import type { PlannedImages } from "./task-images.ts";

/** Images that tasks stand on. Those of the gateway and of the runner's own agents hold the very programs that are tested. */
const TASK_IMAGES: readonly string[] = ["base", "workbench", "verifier"];

/** Every file of a task by where it goes, with its digest; folders count by their presence. */
export async function taskFiles(task: Task): Promise<LockedTask["files"]> {
  const sets = await fileSets(task);
  const files: Record<string, string> = { "task.toml": await digestFile(join(task.dir, "task.toml")) };
  const add = async (prefix: string, list: FileList): Promise<void> => {
    for (const { target, source, type, executable } of list) {
      const content = type === "file" && source !== null ? await digestFile(source) : "folder";
      files[`${prefix}${target}`] = executable ? `${content}+x` : content;
    }
  };
  await add("environment/", sets.environment);
  for (const [index, step] of task.steps.entries()) {
    const of = task.multiStep ? `step ${step.name}: ` : "";
    const own = sets.steps[index];
    files[`${of}instruction.md`] = await digestFile(step.instructionFile);
    await add(of, own?.tests ?? []);
    await add(of, own?.solution ?? []);
    await add(`${of}workdir/`, own?.workdir ?? []);
  }
  if (task.submission !== null) files["submission schema"] = await digestFile(task.submission.schemaFile);
  for (const { trap, files: list } of sets.traps) {
    files[`trap ${trap.name}: trap.json`] = await digestFile(join(trap.dir, "trap.json"));
    await add(`trap ${trap.name}: `, list);
  }
  for (const file of task.trajectories) files[`trajectory ${file.slice(task.dir.length + 1)}`] = await digestFile(file);
  return files;
}

/** Input digests of a task's images by role. */
export function taskImages({ environment, verifiers }: PlannedImages): LockedTask["images"] {
  const images: Record<string, Digest> = { environment: environment.inputDigest };
  for (const [index, image] of verifiers.entries())
    if (image !== null) images[`verifier-${index + 1}`] = image.inputDigest;
  return images;
}

/** The runner's own images that tasks stand on, and those that are named, with their packages. */
export function ownImages({ images }: ImagesLock, named: readonly string[]): Record<string, LockedImage> {
  const wanted = new Set([...TASK_IMAGES, ...named]);
  return Object.fromEntries(
    Object.values(images)
      .filter(({ name }) => wanted.has(name))
      .map(({ name, inputDigest, configDigest, packages }) => [
        name,
        {
          inputDigest,
          configDigest,
          packages: Object.fromEntries(packages.map((one) => [`${one.kind} ${one.name}`, one.version])),
        },
      ]),
  );
}

/** What a server advertises, part by part, so that a difference can be told by its place. */
export function lockedServer(name: string, image: string, surface: Surface): LockedServer {
  const { server, instructions, tools, catalog } = surface;
  return {
    name,
    image,
    surface: surfaceDigest(surface),
    server: `${server.name} ${server.version}`,
    instructions: instructions === null ? null : digestJson(instructions),
    tools: Object.fromEntries(tools.map((tool) => [tool.name, digestJson(tool)])),
    catalog: catalog === null ? null : { digest: catalog.digest, operations: catalog.operationCount },
  };
}
