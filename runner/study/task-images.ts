import { join } from "node:path";
import { otherRuntimes } from "../agent/registry.ts";
import { type Digest, digestJson, isDigest } from "../base/digest.ts";
import { RunnerError } from "../base/errors.ts";
import type { Engine } from "../docker/engine.ts";
import {
  type BuildNetwork,
  type BuildTaskImageOptions,
  buildTaskImage,
  findTaskImage,
} from "../image/build-task-image.ts";
import { findHostCa, type HostCa } from "../image/host-ca.ts";
import type { ImageMap, ReplacedImage } from "../image/image-map.ts";
import { type ImagesLock, readLock } from "../image/lock.ts";
import { resolveImage } from "../image/resolve-base.ts";
import { staleImages } from "../image/verify-images.ts";
import type { TaskDigests } from "../task/digests.ts";
import type { EnvironmentSpec, Task } from "../task/model.ts";
import type { ResolvedImage } from "../trial/spec.ts";
import type { OracleParts } from "./oracle-evidence.ts";

/** How the images of tasks are made on this machine. */
export interface ImageSettings {
  readonly projectRoot: string;
  readonly maps: readonly ImageMap[];
  readonly buildNetwork: BuildNetwork;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The runner's own images as this machine has them. */
export interface OwnImages {
  readonly lock: ImagesLock;
  readonly ids: ReadonlyMap<string, Digest>;
  readonly hostCa: HostCa | null;
}

/** An image that a task needs: resolved, or known by its inputs alone because nothing was to be built. */
export type TaskImageState = ResolvedImage | (Omit<ResolvedImage, "id"> & { readonly id: null });

/** A task's images as far as they are known without building. */
export interface PlannedImages {
  readonly environment: TaskImageState;
  readonly verifiers: readonly (TaskImageState | null)[];
  readonly replaced: readonly ReplacedImage[];
}

/** A task's images, resolved to ids once for a run. */
export interface PreparedTask extends PlannedImages {
  readonly environment: ResolvedImage;
  /** One per step; null where the verifier is shared. */
  readonly verifiers: readonly (ResolvedImage | null)[];
  /** What `--image-map` replaced. */
  readonly replaced: readonly ReplacedImage[];
}

/**
 * Reads which of the runner's own images this machine has. Evidence binds the source that ran, so images of another source are refused: those
 * that every run uses, and the runtime of `agent`.
 * @throws RunnerError `IMAGES_NOT_BUILT`, `IMAGES_STALE`, `IMAGES_GONE`.
 */
export async function readOwnImages(settings: ImageSettings, engine: Engine, agent: string | null): Promise<OwnImages> {
  const lock = await readLock(stateDirOf(settings.projectRoot));
  if (lock === undefined) {
    throw new RunnerError(
      "environment",
      "IMAGES_NOT_BUILT",
      "the runner's own images have not been built on this machine",
      {
        hint: "Run `runner images build`.",
      },
    );
  }
  const ids = new Map(Object.values(lock.images).map((image) => [image.name, image.imageId]));
  const gone: string[] = [];
  const unused = otherRuntimes(agent ?? "");
  const [stale, hostCa] = await Promise.all([
    staleImages(settings.projectRoot, lock, (name) => !unused.includes(name)),
    findHostCa(settings.env),
    ...[...ids].map(([name, id]) =>
      engine.docker
        .getImage(id)
        .inspect()
        .catch(() => gone.push(name)),
    ),
  ]);
  if (stale.length > 0) {
    throw new RunnerError(
      "environment",
      "IMAGES_STALE",
      `the images ${stale.join(", ")} were built from other sources than those on disk`,
      { hint: "Run `runner images build`." },
    );
  }
  if (gone.length > 0) {
    throw new RunnerError(
      "environment",
      "IMAGES_GONE",
      `the engine no longer has the images ${gone.sort().join(", ")}`,
      {
        hint: "Run `runner images build`.",
      },
    );
  }
  return { lock, ids, hostCa };
}

/** The runner's local state. */
export function stateDirOf(projectRoot: string): string {
  return join(projectRoot, ".runner");
}

/** Builds or finds a task's environment and verifier images. */
export async function prepareTask(
  settings: ImageSettings,
  own: OwnImages,
  engine: Engine,
  task: Task,
  report: (line: string) => void,
  signal: AbortSignal,
): Promise<PreparedTask> {
  const { environment, verifiers, replaced } = await planImages(settings, own, engine, task, report, signal, true);
  return {
    environment: requireBuilt(environment),
    verifiers: verifiers.map((image) => image && requireBuilt(image)),
    replaced,
  };
}

function requireBuilt(image: TaskImageState): ResolvedImage {
  const { id } = image;
  if (id === null)
    throw new RunnerError("environment", "IMAGE_MISSING", `the image with inputs ${image.inputDigest} was not built`);
  return { ...image, id };
}

/** Identifies a task's images by their inputs; with `build` those that the engine lacks are built, otherwise their ids are null. */
export async function planImages(
  settings: ImageSettings,
  own: OwnImages,
  engine: Engine,
  task: Task,
  report: (line: string) => void,
  signal: AbortSignal,
  build: boolean,
): Promise<PlannedImages> {
  const replaced: ReplacedImage[] = [];
  const resolved = new Map<string, Promise<TaskImageState>>();
  const resolve = (environment: EnvironmentSpec): Promise<TaskImageState> => {
    const key = digestJson(environment.image);
    const known =
      resolved.get(key) ?? resolveEnvironment(settings, own, engine, environment, replaced, report, signal, build);
    resolved.set(key, known);
    return known;
  };
  const environment = await resolve(task.environment);
  const verifiers: (TaskImageState | null)[] = [];
  for (const step of task.steps) {
    verifiers.push(step.verifier.environment === null ? null : await resolve(step.verifier.environment));
  }
  return { environment, verifiers, replaced };
}

async function resolveEnvironment(
  settings: ImageSettings,
  own: OwnImages,
  engine: Engine,
  environment: EnvironmentSpec,
  replaced: ReplacedImage[],
  report: (line: string) => void,
  signal: AbortSignal,
  build: boolean,
): Promise<TaskImageState> {
  const { docker } = engine;
  const { image } = environment;
  const common = { docker, maps: settings.maps, lock: own.lock, signal };
  if (image.kind === "image") {
    const found = await resolveImage(docker, image.reference, common);
    if (found.replaced != null) replaced.push(found.replaced);
    const inputDigest = digestJson({
      reference: found.reference,
      replacedBy: found.replaced?.to ?? null,
      identity: found.identity,
    });
    return describeImage(engine, found.imageId, inputDigest);
  }
  if (image.kind !== "dockerfile") {
    throw new RunnerError("input", "ENVIRONMENT_MISSING", "the task names no image and has no Dockerfile");
  }
  const options: BuildTaskImageOptions = {
    ...common,
    contextFolder: image.context,
    network: settings.buildNetwork,
    hostCa: own.hostCa,
    stateFolder: stateDirOf(settings.projectRoot),
    timeoutMs: Math.ceil(environment.buildTimeoutMicros / 1000),
    env: settings.env,
  };
  if (build) report(`images: ${image.context}`);
  const made = build ? await buildTaskImage(options) : await findTaskImage(options);
  replaced.push(...made.replaced);
  if (made.imageId === null) return { id: null, inputDigest: made.inputDigest, env: [], workdir: "/", user: null };
  return describeImage(engine, made.imageId, made.inputDigest);
}

async function describeImage(engine: Engine, id: Digest, inputDigest: Digest): Promise<ResolvedImage> {
  const info = await engine.docker.getImage(id).inspect();
  if (!isDigest(info.Id)) throw new RunnerError("environment", "DOCKER_FAILED", `the engine calls an image ${info.Id}`);
  const workdir = info.Config.WorkingDir ?? "";
  return {
    ...{ id: info.Id, inputDigest, env: info.Config.Env ?? [] },
    workdir: workdir === "" ? "/" : workdir,
    user: info.Config.User || null,
  };
}

/** What a validation of a task proves something about: its own parts and the inputs of its images. */
export function oracleParts(digests: TaskDigests, prepared: PlannedImages): OracleParts {
  return {
    contract: digests.contract,
    verifier: digests.verifier,
    oracle: digests.oracle,
    traps: digests.traps,
    "environment image": prepared.environment.inputDigest,
    "verifier images": digestJson(prepared.verifiers.map((image) => image?.inputDigest ?? null)),
  };
}
