import { join } from "node:path";
import { expect, test } from "vitest";
import { loadDataset } from "../../../runner/task/load-dataset.ts";
import { refusals } from "../../../runner/task/refusals.ts";
import { bundles } from "./support.ts";

async function all(set: string, purpose: "oracle" | "execute") {
  const dir = join(bundles, set);
  const { tasks } = await loadDataset(dir);
  return Object.fromEntries(
    tasks.map((task) => [
      task.id,
      refusals(task, purpose).map(({ code, subject, message }) =>
        `${code} ${subject}: ${message}`.replaceAll(`${dir}/`, ""),
      ),
    ]),
  );
}

const always = {
  compose: [
    "COMPOSE_ENVIRONMENT compose/environment/docker-compose.yaml: it needs Docker Compose services, which are not started here",
  ],
  "compose-verifier": [
    "COMPOSE_VERIFIER compose-verifier/tests/docker-compose.yaml: it needs Docker Compose services, which are not started here",
  ],
  gpu: ["GPU environment.gpus: it needs 1 GPU (H100)"],
  "no-definition": [
    "NO_ENVIRONMENT_DEFINITION environment: nothing defines the image: neither docker_image nor no-definition/environment/Dockerfile",
  ],
  "no-verifier-definition": [
    "NO_VERIFIER_DEFINITION verifier.environment: nothing defines the image: neither docker_image nor no-verifier-definition/tests/Dockerfile",
  ],
  "sidecar-artifact": [
    "SIDECAR_ARTIFACT artifacts: it collects /var/lib/data from the service database, which is not started here",
  ],
  "sidecar-hook": [
    "SIDECAR_HOOK verifier.collect: it runs a collect hook in the service database, which is not started here",
  ],
  tpu: ["TPU environment.tpu: it needs a TPU (v5e, 2x4)"],
  windows: ["WINDOWS environment.os: it needs Windows containers"],
};

test("execute refuses by name every requirement that it cannot meet", async () => {
  expect(await all("refused", "execute")).toEqual({
    ...always,
    "mcp-servers": [
      "MCP_SERVERS environment.mcp_servers: it brings MCP servers of its own (calculator); the condition alone decides which server an agent has",
    ],
    "public-network": [
      'PUBLIC_AGENT_NETWORK agent.network_mode: its agent phase has a public network; an agent that can fetch the server is no control (a study may say "allowPublicNetwork")',
    ],
    skills: ["SKILLS environment.skills_dir: it brings skills (/opt/skills); neither condition may have any"],
    trajectory: ["TRAJECTORY trajectory/trajectory.json: it seeds the agent with a prior trajectory"],
  });
});

test("oracle runs what only a model-driven agent would need", async () => {
  expect(await all("refused", "oracle")).toEqual({
    ...always,
    "mcp-servers": [],
    "public-network": [],
    skills: [],
    trajectory: [],
  });
});

test("no good bundle is refused", async () => {
  expect(Object.values(await all("good", "oracle")).flat()).toEqual([]);
  expect(Object.values(await all("good", "execute")).flat()).toEqual([]);
});

test("a study may allow a public network", async () => {
  const { tasks } = await loadDataset(join(bundles, "refused/public-network"));
  expect(tasks.map((task) => refusals(task, "execute", { allowPublicNetwork: true }))).toEqual([[]]);
});
