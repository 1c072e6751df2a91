import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type Dockerode from "dockerode";
import { RunnerError } from "../base/errors.ts";
import { type Abortable, apiError, checkAborted, isGone, statusOf } from "./api-error.ts";
import { type Attachment, type AttachOptions, attachTo } from "./attach.ts";
import { type ContainerSpec, createOptions } from "./container-spec.ts";
import { type ContainerState, readState } from "./container-state.ts";
import type { Engine } from "./engine.ts";
import { type ExecResult, type ExecSpec, execIn } from "./exec.ts";
import {
  type AnonymousVolume,
  type ChangedPath,
  changedPathsOf,
  imageVolumesOf,
  writableBytesOf,
} from "./filesystem.ts";
import { removeContainer } from "./remove.ts";
import { type CommitOptions, commitContainer, type Snapshot } from "./snapshot.ts";
import { readHostLimits } from "./ulimits.ts";

/** A container of our own; disposing it removes it, whatever its state, with its anonymous volumes. */
export interface Container extends AsyncDisposable {
  readonly id: string;
  readonly name: string;
  /** Connects to the main process's streams; call it before {@link start}, or early bytes are missed. */
  readonly attach: (options: AttachOptions) => Promise<Attachment>;
  readonly start: (options?: Abortable) => Promise<void>;
  /** Waits until a started container runs no more. (A container that was never started counts as not running.) */
  readonly wait: (options?: Abortable) => Promise<ContainerState>;
  /** Ends every process in it at once. One that is dead or gone already is fine. */
  readonly kill: (options?: Abortable) => Promise<ContainerState>;
  readonly state: (options?: Abortable) => Promise<ContainerState>;
  readonly exec: (spec: ExecSpec) => Promise<ExecResult>;
  /** Unpacks a tar below `path`, which must exist. Fails on a read-only root; tmpfs mounts of the running container are not reached. */
  readonly putArchive: (tar: Buffer | Readable, path: string, options?: PutOptions) => Promise<void>;
  /** The tar of a file or folder, named by its last path component; null when there is nothing at `path`. */
  readonly getArchive: (path: string, options?: Abortable) => Promise<Readable | null>;
  /** True when there is something at `path`, a dangling link included; mounts that only a running container has are not seen. */
  readonly exists: (path: string, options?: Abortable) => Promise<boolean>;
  /** An image of the current filesystem, without the content of volumes. */
  readonly commit: (options: CommitOptions) => Promise<Snapshot>;
  readonly changedPaths: (options?: Abortable) => Promise<ChangedPath[]>;
  /** Bytes in the writable layer. */
  readonly size: (options?: Abortable) => Promise<number>;
  /** Volumes the engine made for the image's VOLUME lines; they go with the container. */
  readonly anonymousVolumes: (options?: Abortable) => Promise<AnonymousVolume[]>;
}

export interface PutOptions extends Abortable {
  /** Lets a folder take the place of what is no folder, and the other way round; otherwise such a clash is an error. Default false. */
  readonly replace?: boolean;
}

/** Waiting survives a connection that died silently: the state is read at this interval as well. */
const RECHECK_MS = 5_000;

/**
 * Makes a container, not started yet. When anything fails after the engine may have made it, it is removed before the error is thrown.
 * @throws RunnerError `IMAGE_MISSING`, `LIMIT_CPUS`, or as {@link apiError}.
 */
export async function createContainer(
  engine: Engine,
  spec: ContainerSpec,
  { signal }: Abortable = {},
): Promise<Container> {
  const { docker, facts } = engine;
  checkAborted(signal, "create a container");
  const name = `jacobian-runner-${randomUUID()}`;
  const options = createOptions(spec, name, facts, await readHostLimits());
  try {
    // Without the signal: an abandoned request could leave a container whose id nobody knows.
    const created = await docker.createContainer(options);
    for (const { id, aliases = [] } of spec.networks ?? []) {
      checkAborted(signal, "connect a container to its networks");
      await docker
        .getNetwork(id)
        .connect({ Container: created.id, EndpointConfig: { Aliases: [...aliases] } as never });
    }
    checkAborted(signal, "create a container");
    return handleOf(engine, created, name);
  } catch (thrown) {
    const failure = createError(spec, thrown);
    await removeContainer(docker, name).catch((teardown) => {
      throw new RunnerError(failure.kind, failure.code, failure.message, {
        cause: new AggregateError([failure, teardown], "and the container could not be removed"),
      });
    });
    throw failure;
  }
}

function createError(spec: ContainerSpec, thrown: unknown): RunnerError {
  if (isGone(thrown) && /no such image/i.test(String(thrown))) {
    return new RunnerError("environment", "IMAGE_MISSING", `there is no image ${spec.image} in the Docker engine`, {
      hint: "Run `runner images build`.",
      cause: thrown,
    });
  }
  return apiError("create a container", thrown);
}

function handleOf({ docker }: Engine, container: Dockerode.Container, name: string): Container {
  let removal: Promise<void> | undefined;
  return {
    id: container.id,
    name,
    attach: (options) => attachTo(container, options),
    start: ({ signal } = {}) => call("start a container", signal, (abort) => container.start(abort)),
    wait: (options) => waitFor(container, options),
    kill: (options) => killContainer(container, options),
    state: (options) => readState(container, options),
    exec: (spec) => execIn(docker, container, spec),
    putArchive: (tar, path, options) => putArchive(container, tar, path, options),
    getArchive: (path, { signal } = {}) => getArchive(container, path, signal),
    exists: (path, { signal } = {}) => exists(container, path, signal),
    commit: (options) => commitContainer(docker, container, options),
    changedPaths: (options) => changedPathsOf(container, options),
    size: (options) => writableBytesOf(container, options),
    anonymousVolumes: (options) => imageVolumesOf(container, options),
    [Symbol.asyncDispose]: () => {
      removal ??= removeContainer(docker, container.id);
      return removal;
    },
  };
}

async function call(
  action: string,
  signal: AbortSignal | undefined,
  request: (options: { abortSignal?: AbortSignal }) => Promise<unknown>,
): Promise<void> {
  checkAborted(signal, action);
  try {
    await request(signal === undefined ? {} : { abortSignal: signal });
  } catch (thrown) {
    throw apiError(action, thrown, signal);
  }
}

/**
 * Waits for "not running", after the start: waiting for the next exit beside the start never returns when the container is quicker
 * than the request.
 */
async function waitFor(container: Dockerode.Container, { signal }: Abortable = {}): Promise<ContainerState> {
  const done = new AbortController();
  const abortSignal = signal === undefined ? done.signal : AbortSignal.any([signal, done.signal]);
  const rechecked = async (): Promise<void> => {
    do await sleep(RECHECK_MS, undefined, { signal: abortSignal });
    while ((await readState(container, { signal: abortSignal })).running);
  };
  const waited = container.wait({ abortSignal }).catch((thrown) => {
    if (!isGone(thrown)) throw thrown;
  });
  const recheck = rechecked();
  waited.catch(() => undefined);
  recheck.catch(() => undefined);
  try {
    await Promise.race([waited, recheck]);
    return await readState(container, { signal });
  } catch (thrown) {
    throw apiError("wait for a container", thrown, signal);
  } finally {
    done.abort();
  }
}

async function killContainer(container: Dockerode.Container, { signal }: Abortable = {}): Promise<ContainerState> {
  try {
    await container.kill({ signal: "SIGKILL", ...(signal === undefined ? {} : { abortSignal: signal }) });
  } catch (thrown) {
    // 409: not running; 404: gone.
    if (statusOf(thrown) !== 409 && !isGone(thrown)) throw apiError("kill a container", thrown, signal);
  }
  const state = await readState(container, { signal });
  return state.running ? waitFor(container, { signal }) : state;
}

async function putArchive(
  container: Dockerode.Container,
  tar: Buffer | Readable,
  path: string,
  { signal, replace = false }: PutOptions = {},
): Promise<void> {
  // Through a generator, because a stream that closes early without an error would leave the request open for ever.
  const source = Buffer.isBuffer(tar) ? tar : Readable.from(tar, { objectMode: false });
  try {
    await call(`copy files to ${path} in a container`, signal, (abort) =>
      container.putArchive(source, { ...abort, path, noOverwriteDirNonDir: String(!replace) }),
    );
  } finally {
    if (!Buffer.isBuffer(tar)) tar.destroy();
  }
}

async function exists(container: Dockerode.Container, path: string, signal: AbortSignal | undefined): Promise<boolean> {
  checkAborted(signal, `look for ${path} in a container`);
  try {
    await container.infoArchive({ path, ...(signal === undefined ? {} : { abortSignal: signal }) });
    return true;
  } catch (thrown) {
    if (isGone(thrown)) return false;
    throw apiError(`look for ${path} in a container`, thrown, signal);
  }
}

async function getArchive(
  container: Dockerode.Container,
  path: string,
  signal: AbortSignal | undefined,
): Promise<Readable | null> {
  checkAborted(signal, `copy ${path} from a container`);
  try {
    return (await container.getArchive({
      path,
      ...(signal === undefined ? {} : { abortSignal: signal }),
    })) as Readable;
  } catch (thrown) {
    if (
      isGone(thrown) &&
      !/no such container/i.test(String(thrown).replace("(HTTP code 404) no such container - ", ""))
    ) {
      return null;
    }
    throw apiError(`copy ${path} from a container`, thrown, signal);
  }
}
