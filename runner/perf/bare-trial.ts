import { setTimeout as sleep } from "node:timers/promises";
import type Dockerode from "dockerode";
import { type PackEntry, packBuffer } from "../docker/archive/pack.ts";
import { createOptions } from "../docker/container-spec.ts";
import { ownerLabels } from "../docker/ownership.ts";
import { readHostLimits } from "../docker/ulimits.ts";
import { fileSets } from "../task/file-sets.ts";
import { KEEPER, limitsOf, TASK_CAPABILITIES } from "../trial/confinement.ts";
import { fileEntries } from "../trial/files.ts";
import type { TrialSpec } from "../trial/spec.ts";
import type { SharedWorld } from "../trial/world.ts";

/**
 * The yardstick of a trial without network: the engine operations that such a trial cannot do without (make, fill, start and kill the
 * agent's container; read its artifacts; make, fill, run and read the verifier's; remove everything), issued bare: nothing is recorded,
 * hashed, parsed or kept.
 */
export async function bareTrial(world: SharedWorld, spec: TrialSpec): Promise<void> {
  const { docker, facts } = world.engine;
  const labels = ownerLabels(world.owner, { run: world.runId, role: "bare" });
  const limits = await readHostLimits();
  const common = { labels, network: "none" as const, capAdd: TASK_CAPABILITIES };
  const agent = await docker.createContainer(
    createOptions(
      { ...common, ...KEEPER, image: spec.environment.id, limits: limitsOf(spec.task.environment) },
      name(),
      facts,
      limits,
    ),
  );
  await agent.putArchive(await packBuffer(folders("logs", "logs/agent", "logs/artifacts", "logs/verifier")), {
    path: "/",
  });
  await agent.start();
  await agent.kill();
  await agent.inspect();
  await drain(agent, "/logs");
  await drain(agent, "/app/submission.json");
  await bareGrading(world, spec);
  await agent.remove({ force: true, v: true });
}

/** The yardstick of grading without artifacts: the verifier's volumes and container, filled, run, read and removed. */
export async function bareGrading(world: SharedWorld, spec: TrialSpec): Promise<void> {
  const { docker, facts } = world.engine;
  const labels = ownerLabels(world.owner, { run: world.runId, role: "bare" });
  const limits = await readHostLimits();
  const step = spec.task.steps[0];
  const verifier = spec.verifiers[0];
  if (step === undefined || verifier == null) throw new Error("the yardstick needs a separate verifier");
  const sets = await fileSets(spec.task);
  const common = { labels, network: "none" as const, capAdd: TASK_CAPABILITIES };
  const [logs, tests] = [name(), name()];
  await Promise.all([logs, tests].map((Name) => docker.createVolume({ Name, Labels: { ...labels } })));
  const grader = await docker.createContainer(
    createOptions(
      {
        ...common,
        image: verifier.id,
        entrypoint: ["/bin/sh", "-c", "/tests/test.sh"],
        command: [],
        mounts: [
          { volume: logs, target: "/logs/verifier", noCopy: true },
          { volume: tests, target: "/tests", noCopy: true },
        ],
        limits: limitsOf(step.verifier.environment ?? spec.task.environment),
      },
      name(),
      facts,
      limits,
    ),
  );
  const files: PackEntry[] = [];
  for await (const entry of fileEntries(sets.steps[0]?.tests ?? [])) files.push(entry);
  await grader.putArchive(await packBuffer([...files, ...folders("logs/verifier")]), { path: "/" });
  const output = await grader.attach({ stream: true, stdout: true, stderr: true });
  output.resume();
  await grader.start();
  await grader.wait();
  await grader.inspect();
  await drain(grader, "/logs/verifier");
  await grader.remove({ force: true, v: true });
  await Promise.all([logs, tests].map((volume) => removeVolume(docker, volume)));
}

function name(): string {
  return `jacobian-runner-bare-${Math.random().toString(36).slice(2)}`;
}

function folders(...paths: readonly string[]): PackEntry[] {
  return paths.map((path) => ({ path, type: "directory", mode: 0o777 }));
}

/** Reads an archive to its end; an absent path is fine. */
export async function drain(container: Dockerode.Container, path: string): Promise<void> {
  try {
    for await (const _chunk of await container.getArchive({ path })) {
      // Reading is the operation.
    }
  } catch (thrown) {
    if (!(thrown instanceof Error && "statusCode" in thrown && thrown.statusCode === 404)) throw thrown;
  }
}

async function removeVolume(docker: Dockerode, volume: string): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      await docker.getVolume(volume).remove();
      return;
    } catch (thrown) {
      if (attempt === 5) throw thrown;
      await sleep(20);
    }
  }
}
