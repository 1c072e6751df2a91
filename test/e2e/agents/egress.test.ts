import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../../runner/base/clock.ts";
import type { Digest } from "../../../runner/base/digest.ts";
import { createInternalNetwork } from "../../../runner/docker/network.ts";
import { ownerLabels, thisOwner } from "../../../runner/docker/ownership.ts";
import { buildImages } from "../../../runner/image/build-images.ts";
import { checkAgent } from "../../../runner/study/check-agent.ts";
import { startNameSink } from "../../../runner/study/name-sink.ts";
import { testedAgents } from "../../support/agents.ts";
import { type Bench, openBench, shell } from "../../support/docker.ts";
import { ROOT } from "../../support/e2e.ts";
import { WHOLE } from "../../support/size.ts";

/** How long each agent waits between two turns; some minutes show what is told to the world from time to time. */
const IDLE_SECONDS = Number(process.env.RUNNER_TEST_IDLE_SECONDS ?? (WHOLE ? 120 : 5));

const AGENTS = testedAgents(["opencode"]);

let bench: Bench;
let images: ReadonlyMap<string, Digest>;

beforeAll(async () => {
  bench = await openBench();
  const names = ["base", "workbench", "gateway", ...AGENTS.map(({ runtimeImage }) => runtimeImage)];
  const built = await buildImages({ docker: bench.engine.docker, projectRoot: ROOT, names });
  images = new Map(Object.entries(built.images).map(([name, { imageId }]) => [name, imageId]));
});
afterAll(() => bench[Symbol.asyncDispose]());

test("the sink names every host that a container looks up, and those that it connects to by their own words", async () => {
  const { engine, labels, image, run } = bench;
  const owner = await thisOwner();
  await using network = await createInternalNetwork(engine, { labels: ownerLabels(owner, { run, role: "test" }) });
  const world = {
    engine,
    owner,
    runId: run,
    clock: systemClock,
    gatewayImage: image as Digest,
    outward: () => Promise.reject(new Error("no way out")),
    runtimeVolume: () => Promise.reject(new Error("no volume")),
  };
  await using sink = await startNameSink(world, network, image as Digest, AbortSignal.timeout(60_000));
  const container = await bench.sleeper({
    labels,
    image,
    network: { id: network.id, dns: { server: sink.address } },
  });
  expect(sink.hosts()).toEqual([]);
  const fetched = await shell(
    container,
    `node -e '
      require("node:dns").lookup("only.looked.up", () => {});
      require("node:http").get("http://plain.example/x").on("error", () => {});
      require("node:https").get("https://telemetry.example/v1").on("error", () => {});
      setTimeout(() => {}, 500);'`,
  );
  expect(fetched.exitCode, fetched.stderr).toBe(0);
  expect(sink.hosts()).toEqual([
    "only.looked.up",
    "plain.example",
    "plain.example:80",
    "telemetry.example",
    "telemetry.example:443",
  ]);
});

test.each(AGENTS.map((agent) => [agent.name, agent] as const))(
  "%s tries to reach no host outside, in either condition, busy or idle",
  async (_name, agent) => {
    const lines: string[] = [];
    const check = await checkAgent({
      engine: bench.engine,
      agent,
      images,
      idleSeconds: IDLE_SECONDS,
      only: ["control", "treatment"],
      report: (line) => lines.push(line),
      signal: AbortSignal.timeout((IDLE_SECONDS + 280) * 1000),
    });
    expect(check.problems, lines.join("\n")).toEqual([]);
    expect(check.cases.map(({ name, outcome, hosts }) => [name, outcome, hosts])).toEqual([
      ["control", "scored 1", []],
      ["treatment", "scored 1", []],
    ]);
  },
  (IDLE_SECONDS + 300) * 1000,
);
