import { randomUUID } from "node:crypto";
import type Dockerode from "dockerode";
import { RunnerError } from "../base/errors.ts";
import { type Abortable, apiError, checkAborted } from "./api-error.ts";
import type { Engine } from "./engine.ts";
import type { Labels } from "./ownership.ts";
import { removeNetwork } from "./remove.ts";

export interface NetworkOptions extends Abortable {
  readonly labels: Labels;
}

/** A network of our own; disposing it disconnects what is still on it and removes it. */
export interface Network extends AsyncDisposable {
  readonly id: string;
  readonly name: string;
  readonly connect: (
    container: string,
    options?: { readonly aliases?: readonly string[] } & Abortable,
  ) => Promise<void>;
  readonly disconnect: (container: string) => Promise<void>;
  /** The network's address ranges in CIDR form. */
  readonly subnets: (options?: Abortable) => Promise<string[]>;
}

/**
 * A network without a way out: no route to the outside, no address on the host's side (a plain internal network still reaches the
 * host's services through its bridge), no IPv6. Containers on it reach each other.
 */
export function createInternalNetwork(engine: Engine, options: NetworkOptions): Promise<Network> {
  return createNetwork(engine, options, true, { "com.docker.network.bridge.inhibit_ipv4": "true" });
}

/** A network with a way out, whose containers do not reach each other. */
export function createOutwardNetwork(engine: Engine, options: NetworkOptions): Promise<Network> {
  return createNetwork(engine, options, false, { "com.docker.network.bridge.enable_icc": "false" });
}

async function createNetwork(
  { docker }: Engine,
  { labels, signal }: NetworkOptions,
  internal: boolean,
  driverOptions: Record<string, string>,
): Promise<Network> {
  checkAborted(signal, "create a network");
  const name = `jacobian-runner-${randomUUID()}`;
  let id: string;
  try {
    // Without the signal: an abandoned request could leave a network behind.
    const created = await docker.createNetwork({
      Name: name,
      Driver: "bridge",
      CheckDuplicate: true,
      Internal: internal,
      Attachable: false,
      EnableIPv6: false,
      Options: driverOptions,
      Labels: { ...labels },
    });
    id = created.id;
  } catch (thrown) {
    await removeNetwork(docker, name).catch(() => undefined);
    throw networkError(thrown);
  }
  const network = docker.getNetwork(id);
  let removal: Promise<void> | undefined;
  return {
    id,
    name,
    connect: async (container, { aliases = [], signal: abort } = {}) => {
      checkAborted(abort, "connect a container to a network");
      try {
        await network.connect({ Container: container, EndpointConfig: { Aliases: [...aliases] } as never });
      } catch (thrown) {
        throw apiError("connect a container to a network", thrown, abort);
      }
    },
    disconnect: async (container) => {
      try {
        await network.disconnect({ Container: container, Force: true });
      } catch (thrown) {
        throw apiError("disconnect a container from a network", thrown);
      }
    },
    subnets: async ({ signal: abort } = {}) => {
      checkAborted(abort, "read a network's addresses");
      try {
        const info: Dockerode.NetworkInspectInfo = await network.inspect();
        return (info.IPAM?.Config ?? []).flatMap(({ Subnet: subnet }) => (subnet === undefined ? [] : [subnet]));
      } catch (thrown) {
        throw apiError("read a network's addresses", thrown, abort);
      }
    },
    [Symbol.asyncDispose]: () => {
      removal ??= removeNetwork(docker, id);
      return removal;
    },
  };
}

function networkError(thrown: unknown): RunnerError {
  if (/non-overlapping IPv4 address pool|fully subnetted/i.test(String(thrown))) {
    return new RunnerError("environment", "NETWORK_POOL", "Docker has no address range left for another network", {
      hint: "Remove unused networks, run fewer trials at once, or widen default-address-pools in Docker's configuration.",
      cause: thrown,
    });
  }
  return apiError("create a network", thrown);
}
