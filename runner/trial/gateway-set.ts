import { PassThrough } from "node:stream";
import { messageOf, RunnerError } from "../base/errors.ts";
import { GATEWAY_PATHS, type GatewayConfigInput } from "../base/formats/gateway-config.ts";
import { type Surface, surfaceDigest } from "../base/formats/surface.ts";
import { AsyncStack } from "../base/stack.ts";
import { type PackEntry, packArchive } from "../docker/archive/pack.ts";
import { sinkOf } from "../docker/byte-sink.ts";
import { createCapture, tailText } from "../docker/capture.ts";
import { type Container, createContainer } from "../docker/container.ts";
import { createInternalNetwork, type Network } from "../docker/network.ts";
import { TrialFailure } from "./failure.ts";
import { type GatewayLink, linkGateway } from "./gateway-link.ts";
import type { McpPlan } from "./spec.ts";
import { type SharedWorld, trialLabels } from "./world.ts";

/** A trial's gateway on the network it shares with the agent, and behind it the treatment's server on a network of their own. */
export interface GatewaySet extends AsyncDisposable {
  /** The network that the agent joins. */
  readonly agentNetwork: Network;
  readonly gateway: Container;
  readonly link: GatewayLink;
  /** Address of a name server on the agent's network that the agent is to ask; left out: none. */
  readonly nameServer?: string;
  /** The treatment's server, and what it printed last. */
  readonly mcp: { readonly container: Container; readonly lastWords: () => string } | null;
}

/** What a gateway set is made for. */
export interface GatewaySetSpec {
  readonly trialId: string;
  readonly config: GatewayConfigInput;
  readonly cassette: Buffer | null;
  readonly mcp: McpPlan | null;
  /** What the server must advertise, without its catalog; null takes whatever it says. */
  readonly expected: Surface | null;
  /** True when the gateway needs a way out: a live provider, or a forward proxy. */
  readonly outward: boolean;
}

const GATEWAY_MEMORY = 512 * 1024 * 1024;
const PREFLIGHT_PAUSE_MS = 200;

/**
 * Starts the gateway (and the server), waits until the server's surface is the locked one, and leaves the gateway listening with its
 * routes closed.
 * @throws TrialFailure `invalid_condition` when the server does not start or advertises something else.
 */
export async function openGatewaySet(
  world: SharedWorld,
  spec: GatewaySetSpec,
  signal: AbortSignal,
): Promise<GatewaySet> {
  await using stack = new AsyncStack();
  const { engine } = world;
  const label = (role: string) => trialLabels(world, spec.trialId, role);
  const [agentNetwork, mcpNetwork] = await acquireAll(stack, [
    () => createInternalNetwork(engine, { labels: label("agent-network"), signal }),
    ...(spec.mcp === null ? [] : [() => createInternalNetwork(engine, { labels: label("mcp-network"), signal })]),
  ]);
  if (agentNetwork === undefined)
    throw new RunnerError("environment", "DOCKER_FAILED", "the agent's network was not made");
  const server =
    spec.mcp === null || mcpNetwork === undefined
      ? null
      : await startServer(world, stack, spec.mcp, mcpNetwork, label("mcp"), signal);
  const networks = [
    ...(mcpNetwork === undefined ? [] : [{ id: mcpNetwork.id }]),
    ...(spec.outward ? [{ id: (await world.outward()).id }] : []),
  ];
  const gateway = stack.use(
    await createContainer(
      engine,
      {
        image: world.gatewayImage,
        labels: label("gateway"),
        hostname: "gateway",
        network: { id: agentNetwork.id, aliases: ["gateway"], dns: spec.outward ? "open" : "closed" },
        networks,
        stdin: true,
        sysctls: { "net.ipv4.ip_forward": "0" },
        limits: { memoryBytes: GATEWAY_MEMORY, pids: 64 },
      },
      { signal },
    ),
  );
  const agentNetworks = await agentNetwork.subnets({ signal });
  await gateway.putArchive(packArchive(configFiles(spec, agentNetworks)), "/", { signal });
  const words = createCapture({ headBytes: 0, tailBytes: 4096 });
  const notices = new PassThrough();
  const attachment = await gateway.attach({ stdin: true, stdout: sinkOf(notices), stderr: words.write });
  attachment.ended.finally(() => notices.end()).catch(() => undefined);
  if (attachment.stdin === null)
    throw new RunnerError("environment", "DOCKER_FAILED", "the gateway's input is not open");
  const link = linkGateway(attachment.stdin, notices, () => tailText(words.captured()).trim());
  await gateway.start({ signal });
  await link.expect("idle", signal);
  link.send({ do: "configure" });
  await link.expect("configured", signal);
  link.send({ do: "listen" });
  await link.expect("ready", signal);
  if (spec.mcp !== null && server !== null) await preflight(link, spec, spec.mcp, server, world, signal);
  const owned = stack.move();
  return {
    agentNetwork,
    gateway,
    link,
    mcp: server === null ? null : { container: server.container, lastWords: server.lastWords },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function* configFiles({ config, cassette }: GatewaySetSpec, agentNetworks: string[]): Generator<PackEntry> {
  const secret = { type: "file", mode: 0o600 } as const;
  yield { ...secret, path: GATEWAY_PATHS.config.slice(1), content: JSON.stringify({ ...config, agentNetworks }) };
  if (cassette !== null) yield { ...secret, path: GATEWAY_PATHS.cassette.slice(1), content: cassette };
}

interface Server {
  readonly container: Container;
  readonly startedMicros: number;
  readonly lastWords: () => string;
}

async function startServer(
  world: SharedWorld,
  stack: AsyncDisposableStack,
  plan: McpPlan,
  network: Network,
  labels: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Server> {
  const host = new URL(plan.url).hostname;
  const container = stack.use(
    await createContainer(
      world.engine,
      {
        image: plan.image,
        entrypoint: plan.command,
        command: [],
        labels,
        hostname: host,
        network: { id: network.id, aliases: [host] },
        limits: { memoryBytes: plan.memoryBytes, pids: 512 },
      },
      { signal },
    ),
  );
  const words = createCapture({ headBytes: 0, tailBytes: 8192 });
  await container.attach({ stdout: words.write, stderr: words.write });
  await container.start({ signal });
  return { container, startedMicros: world.clock.micros(), lastWords: () => tailText(words.captured()).trim() };
}

/** Asks until the server answers, dies, or its time is over; whatever it says then is held against the lock. */
async function preflight(
  link: GatewayLink,
  spec: GatewaySetSpec,
  plan: McpPlan,
  server: Server,
  world: SharedWorld,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const notice = await link.ask({ do: "preflight" }, "preflight", signal);
    if (notice.ok) {
      const expected =
        spec.expected === null ? notice.surfaceDigest : surfaceDigest({ ...spec.expected, catalog: null });
      if (notice.surfaceDigest === expected) return;
      throw new TrialFailure(
        "invalid_condition",
        "MCP_SURFACE_CHANGED",
        `the MCP server ${plan.name} advertises ${notice.surfaceDigest}, locked is ${expected}`,
      );
    }
    const state = await server.container.state({ signal });
    if (!state.running) {
      throw new TrialFailure(
        "invalid_condition",
        "MCP_SERVER_DIED",
        `the MCP server ${plan.name} ended with exit code ${state.exitCode ?? "unknown"}: ${server.lastWords() || "it printed nothing"}`,
      );
    }
    const waited = world.clock.micros() - server.startedMicros;
    if (notice.code !== "unreachable" || waited > plan.startMicros) {
      throw new TrialFailure(
        "invalid_condition",
        `MCP_${(notice.code ?? "unreachable").replaceAll("-", "_").toUpperCase()}`,
        `the MCP server ${plan.name} failed its preflight after ${(waited / 1e6).toFixed(1)} s: ${notice.detail ?? notice.code}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, PREFLIGHT_PAUSE_MS));
    signal.throwIfAborted();
  }
}

/** Acquires several things at once; when one fails, those that came to be are disposed with the stack and the first error is thrown. */
async function acquireAll<T extends AsyncDisposable>(
  stack: AsyncDisposableStack,
  acquire: readonly (() => Promise<T>)[],
): Promise<T[]> {
  const results = await Promise.allSettled(acquire.map((make) => make()));
  const acquired = results.flatMap((result) => (result.status === "fulfilled" ? [stack.use(result.value)] : []));
  for (const result of results) {
    if (result.status === "rejected") {
      throw result.reason instanceof Error ? result.reason : new Error(messageOf(result.reason));
    }
  }
  return acquired;
}
