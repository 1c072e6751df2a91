import { randomBytes } from "node:crypto";
import { type Clock, systemClock } from "../base/clock.ts";
import type { Digest } from "../base/digest.ts";
import { RunnerError } from "../base/errors.ts";
import { AsyncStack } from "../base/stack.ts";
import type { Engine } from "../docker/engine.ts";
import { createOutwardNetwork, type Network } from "../docker/network.ts";
import { ownerLabels, thisOwner } from "../docker/ownership.ts";
import { fillVolumeFromImage } from "../docker/runtime-volume.ts";
import type { SharedWorld } from "./world.ts";

export interface WorldOptions {
  readonly engine: Engine;
  readonly runId: string;
  /** Ids of the runner's own images by name. */
  readonly images: ReadonlyMap<string, Digest>;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
}

/** Where the runtimes of model-driven agents live in their images. */
const RUNTIME_FOLDER = "/opt/agent";

/** A fresh run's identity: sortable by time, unique without coordination. */
export function newRunId(clock: Clock = systemClock): string {
  return `${clock.wall().slice(0, 19).replaceAll(/[-:]/g, "")}Z-${randomBytes(4).toString("hex")}`;
}

/** Opens what the trials of a run share; disposing it removes the shared network. */
export async function openWorld(options: WorldOptions): Promise<SharedWorld & AsyncDisposable> {
  const { engine, runId, images, signal, clock = systemClock } = options;
  const owner = await thisOwner();
  const stack = new AsyncStack();
  let outward: Promise<Network> | undefined;
  const volumes = new Map<string, Promise<string>>();
  const idOf = (name: string): Digest => {
    const id = images.get(name);
    if (id === undefined) {
      throw new RunnerError(
        "environment",
        "IMAGE_MISSING",
        `the image jacobian-runner/${name} has not been built here`,
        {
          hint: "Run `runner images build`.",
        },
      );
    }
    return id;
  };
  return {
    engine,
    owner,
    runId,
    clock,
    gatewayImage: idOf("gateway"),
    outward: async () => {
      outward ??= createOutwardNetwork(engine, {
        labels: ownerLabels(owner, { run: runId, role: "outward" }),
        signal,
      }).then((network) => stack.use(network));
      return outward;
    },
    runtimeVolume: (image) => {
      const volume = volumes.get(image) ?? fillVolumeFromImage(engine, idOf(image), RUNTIME_FOLDER, { signal });
      volumes.set(image, volume);
      return volume;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
