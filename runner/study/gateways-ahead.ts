import { setMaxListeners } from "node:events";
import pLimit from "p-limit";
import { gatewayPlan } from "../trial/gateway-plan.ts";
import { type GatewaySet, openGatewaySet } from "../trial/gateway-set.ts";
import type { TrialSpec } from "../trial/spec.ts";
import type { SharedWorld } from "../trial/world.ts";

/** Gateways (and servers) started before their trials need them; each belongs to one trial. */
export interface GatewaysAhead extends AsyncDisposable {
  /** The trial's gateway: started ahead, or now. The caller owns it. */
  readonly take: (spec: TrialSpec) => Promise<GatewaySet>;
}

/** A gateway, with its server where there is one, that was started for a trial before the trial was. */
export interface ReadyGateway {
  readonly spec: TrialSpec;
  readonly set: GatewaySet;
}

/** Whether a trial needs a gateway: a model drives its agent, and it can be run. */
export function needsGateway({ agent, unavailable }: TrialSpec): boolean {
  return agent.kind === "model" && unavailable === null;
}

/** Servers that may be starting at once: more of them only starve each other of the processors they start on. */
const SERVERS_STARTING = 1;

/**
 * Keeps up to `ahead` gateways ready or starting for the next trials in order, because a server takes seconds to start. Disposing it
 * removes those that no trial took. `ready` are gateways that were started before.
 */
export function startGatewaysAhead(
  world: SharedWorld,
  specs: readonly TrialSpec[],
  ahead: number,
  ready: readonly ReadyGateway[],
  signal: AbortSignal,
): GatewaysAhead {
  const started = new Map(ready.map(({ spec, set }) => [spec, Promise.resolve(set)]));
  const waiting = specs.filter((spec) => needsGateway(spec) && !started.has(spec));
  const stop = new AbortController();
  const joint = AbortSignal.any([signal, stop.signal]);
  setMaxListeners(0, joint);
  const serversStarting = pLimit(SERVERS_STARTING);

  const start = (spec: TrialSpec): Promise<GatewaySet> => {
    const plan = gatewayPlan(world.runId, spec);
    const open = (): Promise<GatewaySet> => {
      joint.throwIfAborted();
      return openGatewaySet(world, plan, joint);
    };
    const opening = plan.mcp === null ? open() : serversStarting(open);
    // Whoever takes it sees the failure; until then it is nobody's unhandled rejection.
    opening.catch(() => undefined);
    return opening;
  };
  const refill = (): void => {
    while (started.size < ahead) {
      const next = waiting.shift();
      if (next === undefined) return;
      started.set(next, start(next));
    }
  };
  refill();
  return {
    take: async (spec) => {
      const opening = started.get(spec) ?? start(spec);
      started.delete(spec);
      const at = waiting.indexOf(spec);
      if (at !== -1) waiting.splice(at, 1);
      // The next ones start when this one is ready: until then it needs the machine more.
      opening.then(refill, refill);
      return opening;
    },
    [Symbol.asyncDispose]: async () => {
      waiting.length = 0;
      stop.abort(new Error("the run is over"));
      await Promise.all(
        [...started.values()].map((opening) =>
          opening.then(
            (set) => set[Symbol.asyncDispose](),
            () => undefined,
          ),
        ),
      );
    },
  };
}
