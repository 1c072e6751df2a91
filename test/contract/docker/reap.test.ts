import { afterAll, beforeAll, expect, test } from "vitest";
import { LABEL, type Labels, ownerLabels, thisOwner } from "../../../runner/docker/ownership.ts";
import { reap } from "../../../runner/docker/reap.ts";
import { type Bench, openBench } from "../../support/docker.ts";
import { runModule } from "../../support/docker-child.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench[Symbol.asyncDispose]());

/** What of this test's run is in the engine. */
async function present(): Promise<string[]> {
  const { docker } = bench.engine;
  const filters = { label: [`${LABEL.run}=${bench.run}`] };
  const [containers, networks, volumes, images] = await Promise.all([
    docker.listContainers({ all: true, filters }),
    docker.listNetworks({ filters }),
    docker.listVolumes({ filters }),
    docker.listImages({ filters: JSON.stringify(filters) }),
  ]);
  const role = (kind: string, labels: Labels | undefined) => `${kind} ${labels?.[LABEL.trial] ?? ""}`;
  return [
    ...containers.map(({ Labels: labels }) => role("container", labels)),
    ...networks.map(({ Labels: labels }) => role("network", labels)),
    ...volumes.Volumes.map(({ Labels: labels }) => role("volume", labels)),
    ...images.map(({ Labels: labels }) => role("snapshot", labels)),
  ].sort();
}

/** A module that makes one of everything for a trial, says so, and waits to be killed. */
const litter = (trial: string) => `
  import { createContainer } from "./runner/docker/container.ts";
  import { connectEngine } from "./runner/docker/engine.ts";
  import { createInternalNetwork } from "./runner/docker/network.ts";
  import { ownerLabels, thisOwner } from "./runner/docker/ownership.ts";
  import { createVolume } from "./runner/docker/volume.ts";
  const engine = await connectEngine();
  const labels = ownerLabels(await thisOwner(), { run: ${JSON.stringify(bench.run)}, trial: "${trial}", role: "agent" });
  const network = await createInternalNetwork(engine, { labels });
  const volume = await createVolume(engine, { labels });
  const container = await createContainer(engine, {
    image: ${JSON.stringify(bench.image)}, labels, entrypoint: [], command: ["sleep", "600"],
    network: { id: network.id }, mounts: [{ volume: volume.name, target: "/v" }],
  });
  await container.start();
  await createContainer(engine, { image: ${JSON.stringify(bench.image)}, labels, network: "none" });
  await container.commit({ labels });
  console.log("ready");
  setInterval(() => undefined, 1000);
`;
const everything = (trial: string) =>
  ["container", "container", "network", "snapshot", "volume"].map((kind) => `${kind} ${trial}`);

test("what a killed process left is removed by the next start, and what a living one has is not touched (D1)", async () => {
  await using dead = await runModule(litter("dead"));
  await using living = await runModule(litter("living"));
  expect([await dead.firstLine, await living.firstLine]).toEqual(["ready", "ready"]);
  dead.process.kill("SIGKILL");
  await dead.result;
  expect(await present()).toEqual([...everything("dead"), ...everything("living")].sort());

  const said: string[] = [];
  const reaped = await reap(bench.engine, { report: (line) => void said.push(line) });
  const own = reaped.filter(({ run }) => run === bench.run);
  expect(own.map(({ kind, trial, role }) => `${kind} ${trial} ${role}`).sort()).toEqual([
    "container dead agent",
    "container dead agent",
    "network dead agent",
    "snapshot dead snapshot",
    "volume dead agent",
  ]);
  expect(said.filter((line) => line.includes(bench.run))).toEqual(
    own.map(({ kind, role }) => `removed ${kind} "${role}" that run ${bench.run} left behind`),
  );
  expect(await present()).toEqual(everything("living"));
});

test("things of another machine, without a complete owner, or of another project stay", async () => {
  const here = await thisOwner();
  const labels = ownerLabels({ ...here, boot: "an earlier boot" }, { run: bench.run, trial: "kept", role: "agent" });
  const kept: Labels[] = [
    { ...labels, [LABEL.machine]: "another machine" },
    { ...labels, [LABEL.pid]: "" },
    { ...labels, [LABEL.project]: "another project" },
  ];
  const { docker } = bench.engine;
  for (const own of kept) await docker.createVolume({ Labels: { ...own } });
  await docker.createVolume({ Labels: { ...labels, [LABEL.trial]: "gone" } });
  await reap(bench.engine);
  expect((await present()).filter((name) => name.startsWith("volume ") && !name.endsWith("living"))).toEqual([
    "volume kept",
    "volume kept",
    "volume kept",
  ]);
});
