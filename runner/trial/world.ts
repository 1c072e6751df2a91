import type { Clock } from "../base/clock.ts";
import type { Digest } from "../base/digest.ts";
import type { Engine } from "../docker/engine.ts";
import { type Labels, type Owner, ownerLabels } from "../docker/ownership.ts";
import type { ObjectStore } from "../evidence/store.ts";

/** What every trial of a run shares: its evidence store and everything in {@link SharedWorld}. */
export interface TrialWorld extends SharedWorld {
  readonly store: ObjectStore;
}

/** What a run shares beside its evidence. */
export interface SharedWorld {
  readonly engine: Engine;
  readonly owner: Owner;
  readonly runId: string;
  readonly clock: Clock;
  readonly gatewayImage: Digest;
  /** The network that leads outside, for gateways alone; made when it is first needed. */
  readonly outward: () => Promise<{ readonly id: string }>;
  /** The volume that holds the runtime of a model-driven agent, by the name of its image. */
  readonly runtimeVolume: (image: string) => Promise<string>;
}

/** Labels of an object that belongs to one trial. */
export function trialLabels(world: SharedWorld, trialId: string, role: string): Labels {
  return ownerLabels(world.owner, { run: world.runId, trial: trialId, role });
}
