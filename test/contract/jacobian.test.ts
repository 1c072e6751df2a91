import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AsyncStack } from "../../runner/base/stack.ts";
import { type Container, createContainer } from "../../runner/docker/container.ts";
import { connectEngine } from "../../runner/docker/engine.ts";
import { createOutwardNetwork } from "../../runner/docker/network.ts";
import { ownerLabels, thisOwner } from "../../runner/docker/ownership.ts";
import { readLock } from "../../runner/image/lock.ts";
import { jacobianContract } from "../support/mcp-servers-contract.ts";
import { PROJECT_ROOT } from "../support/runner.ts";

const stack = new AsyncStack();
let url: string;

beforeAll(async () => {
  const engine = stack.use(await connectEngine());
  const labels = ownerLabels(await thisOwner(), { run: "contract-jacobian", role: "mcp" });
  const lock = await readLock(join(PROJECT_ROOT, ".runner"));
  const image = lock?.images.jacobian?.imageId;
  if (image === undefined) throw new Error("the jacobian image has not been built: run `runner images build`");
  const study = JSON.parse(await readFile(join(PROJECT_ROOT, "benchmarks/config/demo.json"), "utf8"));
  const network = stack.use(await createOutwardNetwork(engine, { labels }));
  const container: Container = stack.use(
    await createContainer(engine, {
      image,
      entrypoint: study.conditions.treatment.mcp.command,
      command: [],
      labels,
      network: { id: network.id },
    }),
  );
  await container.start();
  const info = await engine.docker.getContainer(container.id).inspect();
  const address = Object.values(info.NetworkSettings.Networks)[0]?.IPAddress;
  url = `http://${address}:8000/mcp`;
  for (let attempt = 0; attempt < 600; attempt += 1) {
    const answers = await fetch(url).then(
      () => true,
      () => false,
    );
    if (answers) return;
    await sleep(200);
  }
  throw new Error("the Jacobian server did not answer");
});
afterAll(() => stack.disposeAsync());

test("the pinned Jacobian answers every recorded request as it was recorded, which the stand-in in unit tests is held to as well", async () => {
  expect(await jacobianContract(url)).toEqual([]);
});
