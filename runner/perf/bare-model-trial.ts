import { type PackEntry, packBuffer } from "../docker/archive/pack.ts";
import { createOptions } from "../docker/container-spec.ts";
import { ownerLabels } from "../docker/ownership.ts";
import { readHostLimits } from "../docker/ulimits.ts";
import { fileSets } from "../task/file-sets.ts";
import { stepJob } from "../trial/agent-job.ts";
import { KEEPER, limitsOf, TASK_CAPABILITIES } from "../trial/confinement.ts";
import { finishGateway } from "../trial/gateway-evidence.ts";
import type { GatewaySet } from "../trial/gateway-set.ts";
import type { TrialSpec } from "../trial/spec.ts";
import type { SharedWorld } from "../trial/world.ts";
import { bareGrading, drain } from "./bare-trial.ts";

/**
 * The yardstick of a model-driven trial whose gateway and server are warm: the agent's container on the gateway's network, its command
 * line by exec, the gateway's end, the copies, and the grading, issued bare.
 */
export async function bareModelTrial(world: SharedWorld, spec: TrialSpec, set: GatewaySet): Promise<void> {
  const { docker, facts } = world.engine;
  const labels = ownerLabels(world.owner, { run: world.runId, role: "bare" });
  const step = spec.task.steps[0];
  if (step === undefined || spec.agent.kind !== "model")
    throw new Error("the yardstick needs a step and a model-driven agent");
  const sets = await fileSets(spec.task);
  const { files, job } = stepJob(spec, step, 0, sets, {});
  if (job === null) throw new Error("the yardstick needs a command");
  const { runtime, runtimeImage } = spec.agent.agent;
  const agent = await docker.createContainer(
    createOptions(
      {
        ...KEEPER,
        image: spec.environment.id,
        labels,
        network: { id: set.agentNetwork.id },
        mounts: [{ volume: await world.runtimeVolume(runtimeImage), target: runtime, readOnly: true, noCopy: true }],
        capAdd: TASK_CAPABILITIES,
        limits: limitsOf(spec.task.environment),
      },
      `jacobian-runner-bare-${Math.random().toString(36).slice(2)}`,
      facts,
      await readHostLimits(),
    ),
  );
  const entries: PackEntry[] = [{ path: "logs", type: "directory", mode: 0o777 }];
  for await (const entry of files()) entries.push(entry);
  await agent.putArchive(await packBuffer(entries), { path: "/" });
  await agent.start();
  set.link.send({ do: "agent-started" });
  const exec = await agent.exec({ Cmd: [...job.argv], Env: [...job.env], AttachStdout: true, AttachStderr: true });
  const output = await exec.start({});
  output.resume();
  await new Promise((resolve) => output.once("end", resolve));
  await exec.inspect();
  await agent.kill();
  await agent.inspect();
  set.link.send({ do: "agent-ended" });
  const ended = finishGateway(set, AbortSignal.timeout(60_000));
  await drain(agent, "/logs");
  await drain(agent, "/app/submission.json");
  await bareGrading(world, spec);
  await ended;
  const evidence = await set.gateway.getArchive("/evidence");
  if (evidence !== null) for await (const _chunk of evidence);
  await agent.remove({ force: true, v: true });
}
