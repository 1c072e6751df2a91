import { PassThrough } from "node:stream";
import type Dockerode from "dockerode";
import { GATEWAY_PATHS } from "../base/formats/gateway-config.ts";
import { type PackEntry, packBuffer } from "../docker/archive/pack.ts";
import { createOptions } from "../docker/container-spec.ts";
import { ownerLabels } from "../docker/ownership.ts";
import { readHostLimits } from "../docker/ulimits.ts";
import { fileSets } from "../task/file-sets.ts";
import { stepJob } from "../trial/agent-job.ts";
import { KEEPER, limitsOf, TASK_CAPABILITIES } from "../trial/confinement.ts";
import { linkGateway } from "../trial/gateway-link.ts";
import { gatewayPlan } from "../trial/gateway-plan.ts";
import type { TrialSpec } from "../trial/spec.ts";
import type { SharedWorld } from "../trial/world.ts";

/**
 * The yardstick of a real agent's start: the same networks, server, gateway, agent's container and command line, by bare engine calls, up to
 * the moment when the gateway sees the first model request. Gives the microseconds until then.
 */
export async function bareFirstRequest(world: SharedWorld, spec: TrialSpec, signal: AbortSignal): Promise<number> {
  const { docker, facts } = world.engine;
  const step = spec.task.steps[0];
  if (step === undefined || spec.agent.kind !== "model")
    throw new Error("the yardstick needs a step and a model-driven agent");
  const { agent } = spec.agent;
  const plan = gatewayPlan(world.runId, spec);
  const labels = ownerLabels(world.owner, { run: world.runId, role: "bare" });
  const limits = await readHostLimits();
  const containers: Dockerode.Container[] = [];
  const networks: Dockerode.Network[] = [];
  const network = async (): Promise<string> => {
    const made = await docker.createNetwork({ Name: name(), Driver: "bridge", Internal: true, Labels: { ...labels } });
    networks.push(made);
    return made.id;
  };
  const make = async (options: Parameters<typeof createOptions>[0]): Promise<Dockerode.Container> => {
    const made = await docker.createContainer(createOptions(options, name(), facts, limits));
    containers.push(made);
    for (const { id } of options.networks ?? []) await docker.getNetwork(id).connect({ Container: made.id });
    return made;
  };
  const from = world.clock.micros();
  try {
    const agentNetwork = await network();
    const mcpNetwork = plan.mcp === null ? null : await network();
    if (plan.mcp !== null && mcpNetwork !== null) {
      const { image, command, url, memoryBytes } = plan.mcp;
      const host = new URL(url).hostname;
      const at = { id: mcpNetwork, aliases: [host] };
      const server = await make({
        ...{ image, entrypoint: command, command: [], labels, hostname: host, network: at },
        limits: { memoryBytes, pids: 512 },
      });
      await server.start();
    }
    const gateway = await make({
      image: world.gatewayImage,
      labels,
      hostname: "gateway",
      network: { id: agentNetwork, aliases: ["gateway"] },
      networks: mcpNetwork === null ? [] : [{ id: mcpNetwork }],
      stdin: true,
    });
    const config = { type: "file", mode: 0o600, path: GATEWAY_PATHS.config.slice(1) } as const;
    const files: PackEntry[] = [{ ...config, content: JSON.stringify(plan.config) }];
    if (plan.cassette !== null)
      files.push({ ...config, path: GATEWAY_PATHS.cassette.slice(1), content: plan.cassette });
    await gateway.putArchive(await packBuffer(files), { path: "/" });
    const stream = await gateway.attach({ stream: true, hijack: true, stdin: true, stdout: true, stderr: true });
    const [notices, words] = [new PassThrough(), new PassThrough()];
    docker.modem.demuxStream(stream, notices, words);
    words.resume();
    const link = linkGateway(stream as never, notices, () => "");
    await gateway.start();
    await link.expect("idle", signal);
    link.send({ do: "configure" });
    await link.expect("configured", signal);
    link.send({ do: "listen" });
    await link.expect("ready", signal);
    while (plan.mcp !== null && !(await link.ask({ do: "preflight" }, "preflight", signal)).ok) signal.throwIfAborted();
    const { files: entriesOf, job } = stepJob(spec, step, 0, await fileSets(spec.task), {});
    if (job === null) throw new Error("the yardstick needs a command");
    const { runtime, runtimeImage } = agent;
    const box = await make({
      ...KEEPER,
      image: spec.environment.id,
      labels,
      network: { id: agentNetwork },
      mounts: [{ volume: await world.runtimeVolume(runtimeImage), target: runtime, readOnly: true, noCopy: true }],
      masks: agent.ambient.masked,
      capAdd: TASK_CAPABILITIES,
      limits: limitsOf(spec.task.environment),
    });
    const entries: PackEntry[] = [];
    for await (const entry of entriesOf()) entries.push(entry);
    await box.putArchive(await packBuffer(entries), { path: "/" });
    await box.start();
    link.send({ do: "agent-started" });
    const exec = await box.exec({ Cmd: [...job.argv], Env: [...job.env], AttachStdout: true, AttachStderr: true });
    const output = await exec.start({});
    output.resume();
    await link.expect("agent-request", signal);
    return world.clock.micros() - from;
  } finally {
    await Promise.all(containers.map((container) => container.remove({ force: true, v: true })));
    await Promise.all(networks.map((made) => made.remove()));
  }
}

function name(): string {
  return `jacobian-runner-bare-${Math.random().toString(36).slice(2)}`;
}
