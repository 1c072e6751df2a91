import { randomUUID } from "node:crypto";
import { createCapture, tailText } from "../../runner/docker/capture.ts";
import { type Container, createContainer } from "../../runner/docker/container.ts";
import type { ContainerSpec } from "../../runner/docker/container-spec.ts";
import { connectEngine, type Engine } from "../../runner/docker/engine.ts";
import type { ExecResult } from "../../runner/docker/exec.ts";
import { LABEL, type Labels, ownerLabels, thisOwner } from "../../runner/docker/ownership.ts";
import { removeContainer, removeImage, removeNetwork, removeVolume } from "../../runner/docker/remove.ts";

/** What a file of contract tests works with; disposing it removes everything that carries its labels. */
export interface Bench extends AsyncDisposable {
  readonly engine: Engine;
  readonly run: string;
  readonly labels: Labels;
  /** Id of a Debian image with `sh`, Python 3 and Node. */
  readonly image: string;
  /** A container that sleeps, not started unless asked for. */
  readonly sleeper: (spec?: Partial<ContainerSpec>) => Promise<Container>;
  readonly container: (spec?: Partial<ContainerSpec>) => Promise<Container>;
}

const IMAGE = "jacobian-runner/base:latest";

/** Opens a bench on the engine; the image must have been built. */
export async function openBench(): Promise<Bench> {
  const engine = await connectEngine();
  const run = `test-${randomUUID()}`;
  const labels = ownerLabels(await thisOwner(), { run, role: "test" });
  const { Id: image } = await engine.docker.getImage(IMAGE).inspect();
  const container = (spec: Partial<ContainerSpec> = {}) =>
    createContainer(engine, { image, labels, network: "none", init: false, ...spec });
  return {
    engine,
    run,
    labels,
    image,
    container,
    sleeper: async (spec = {}) => {
      const made = await container({ entrypoint: [], command: ["sleep", "600"], init: true, ...spec });
      await made.start();
      return made;
    },
    [Symbol.asyncDispose]: async () => {
      await sweep(engine, run);
      await engine[Symbol.asyncDispose]();
    },
  };
}

/** Removes whatever carries a run's label. */
async function sweep({ docker }: Engine, run: string): Promise<void> {
  const filters = { label: [`${LABEL.run}=${run}`] };
  for (const { Id: id } of await docker.listContainers({ all: true, filters })) await removeContainer(docker, id);
  for (const { Id: id } of await docker.listNetworks({ filters })) await removeNetwork(docker, id);
  for (const { Name: name } of (await docker.listVolumes({ filters })).Volumes ?? []) await removeVolume(docker, name);
  for (const { Id: id } of await docker.listImages({ filters: JSON.stringify(filters) })) await removeImage(docker, id);
}

/** Runs a shell line in a container and gives its output as text. */
export async function shell(
  container: Container,
  line: string,
  options: { readonly user?: string; readonly timeoutMicros?: number } = {},
): Promise<ExecResult & { readonly stdout: string; readonly stderr: string }> {
  return run(container, ["sh", "-c", line], options);
}

/** Runs a program in a container and gives its output as text. */
export async function run(
  container: Container,
  argv: readonly string[],
  options: { readonly user?: string; readonly timeoutMicros?: number; readonly stdin?: Uint8Array } = {},
): Promise<ExecResult & { readonly stdout: string; readonly stderr: string }> {
  const stdout = createCapture();
  const stderr = createCapture();
  const result = await container.exec({ argv, stdout: stdout.write, stderr: stderr.write, ...options });
  return {
    ...result,
    stdout: tailText(stdout.captured(), 1024 * 1024),
    stderr: tailText(stderr.captured(), 1024 * 1024),
  };
}

/** The host's address on the engine's default network: where containers with a way out reach it. */
export async function bridgeAddress(): Promise<string> {
  await using engine = await connectEngine();
  const { IPAM: pool } = await engine.docker.getNetwork("bridge").inspect();
  return pool?.Config?.[0]?.Gateway ?? "172.17.0.1";
}
