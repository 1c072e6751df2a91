import type { ContainerSpec, NetworkAttachment } from "../docker/container-spec.ts";
import type { NetworkPolicy } from "../task/model.ts";
import { type GatewaySet, openGatewaySet } from "./gateway-set.ts";
import type { TrialWorld } from "./world.ts";

/** Where a phase's container stands, and what it must be told to get out. */
export interface PhaseNetwork {
  readonly network: ContainerSpec["network"];
  readonly networks: readonly NetworkAttachment[];
  /** Proxy variables of an allow-list. */
  readonly env: readonly string[];
}

const NONE: PhaseNetwork = { network: "none", networks: [], env: [] };

/** Variables that send programs through the gateway's forward proxy; one that ignores them reaches nothing. */
export const PROXY_ENVIRONMENT: readonly string[] = ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"]
  .map((name) => `${name}=http://gateway:8080`)
  .concat(["no_proxy", "NO_PROXY"].map((name) => `${name}=gateway,localhost,127.0.0.1`));

/** The network of a phase that talks to a model: the gateway's, and what the task's policy adds. */
export async function modelPhaseNetwork(
  world: TrialWorld,
  policy: NetworkPolicy,
  set: GatewaySet,
): Promise<PhaseNetwork> {
  const open = policy.mode === "public";
  return {
    network: {
      id: set.agentNetwork.id,
      dns: open ? "open" : set.nameServer === undefined ? "closed" : { server: set.nameServer },
    },
    networks: open ? [{ id: (await world.outward()).id }] : [],
    env: policy.mode === "allowlist" && policy.allowedHosts.length > 0 ? PROXY_ENVIRONMENT : [],
  };
}

/** The network of a phase without a model. A gateway is made only for an allow-list; the stack owns it. */
export async function plainPhaseNetwork(
  world: TrialWorld,
  stack: AsyncDisposableStack,
  trialId: string,
  policy: NetworkPolicy,
  signal: AbortSignal,
): Promise<{ readonly phase: PhaseNetwork; readonly gateway: GatewaySet | null }> {
  if (policy.mode === "public") {
    return {
      phase: { network: { id: (await world.outward()).id, dns: "open" }, networks: [], env: [] },
      gateway: null,
    };
  }
  if (policy.mode === "no-network" || policy.allowedHosts.length === 0) return { phase: NONE, gateway: null };
  const gateway = stack.use(
    await openGatewaySet(
      world,
      {
        trialId,
        config: {
          schemaVersion: "1",
          trialId,
          scope: { task: "none", condition: "control", repetition: 1 },
          model: null,
          mcp: null,
          proxy: { allow: [...policy.allowedHosts] },
        },
        cassette: null,
        mcp: null,
        expected: null,
        outward: true,
      },
      signal,
    ),
  );
  gateway.link.send({ do: "agent-started" });
  return { phase: { network: { id: gateway.agentNetwork.id }, networks: [], env: PROXY_ENVIRONMENT }, gateway };
}
