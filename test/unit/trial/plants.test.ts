import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { packArchive } from "../../../runner/docker/archive/pack.ts";
import { findPlants, plantPaths, requireFreshHome } from "../../../runner/trial/plants.ts";

const ambient = { home: [".codex"], project: ["AGENTS.md"], system: ["/etc/codex"], masked: ["/etc/codex"] };

const PASSWD = "root:x:0:0:root:/root:/bin/sh\ndev:x:1000:1000::/srv/dev:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n";

/** A container that has these paths, and this list of users. */
function containerWith(paths: readonly string[], passwd: string | null = PASSWD) {
  async function* entries() {
    yield { path: "passwd", type: "file" as const, mode: 0o644, content: passwd ?? "" };
  }
  return {
    exists: async (path: string) => paths.includes(path),
    getArchive: async () => (passwd === null ? null : Readable.from(packArchive(entries()))),
  };
}

test("plants are looked for in the working directory, all folders above it, the user's homes and the system's folders", () => {
  const scope = { workdir: "/app/src", user: "dev:dev", env: ["PATH=/bin", "HOME=/data/home"] };
  expect(plantPaths(ambient, scope, "")).toEqual([
    "/AGENTS.md",
    "/app/AGENTS.md",
    "/app/src/AGENTS.md",
    "/data/home/.codex",
    "/etc/codex",
    "/home/dev/.codex",
    "/root/.codex",
  ]);
  expect(plantPaths(ambient, { workdir: "/", user: "1000", env: [] }, "")).toEqual([
    "/AGENTS.md",
    "/etc/codex",
    "/root/.codex",
  ]);
});

test.each([
  ["dev", ["/srv/dev/.codex"]],
  ["1000:1000", ["/srv/dev/.codex"]],
  ["nobody", ["/.codex"]],
  ["stranger", ["/home/stranger/.codex"]],
  ["4711", []],
  ["root", []],
  [null, []],
])("the home of the user %s is the one that the image's list of users names", async (user, homes) => {
  const container = { ...containerWith([]), exists: async (path: string) => path.endsWith("/.codex") };
  const found = await findPlants(container, ambient, { workdir: "/app", user, env: [] }, AbortSignal.timeout(1000));
  expect(found).toEqual([...homes, "/root/.codex"].sort());
});

test("an image without a list of users has the homes that are there by custom", async () => {
  const scope = { workdir: "/app", user: "dev", env: [] };
  const container = containerWith(["/home/dev/.codex"], null);
  expect(await findPlants(container, ambient, scope, AbortSignal.timeout(1000))).toEqual(["/home/dev/.codex"]);
});

test("what is there is named, sorted, and nothing else", async () => {
  const container = containerWith(["/etc/codex", "/app/AGENTS.md"]);
  const scope = { workdir: "/app", user: null, env: [] };
  expect(await findPlants(container, ambient, scope, AbortSignal.timeout(1000))).toEqual([
    "/app/AGENTS.md",
    "/etc/codex",
  ]);
});

test("an image that already has the agent's home is refused: what it put there would be the agent's own settings", async () => {
  const signal = AbortSignal.timeout(1000);
  await requireFreshHome(containerWith(["/app"]), "/var/agent-home", signal);
  await expect(requireFreshHome(containerWith(["/var/agent-home"]), "/var/agent-home", signal)).rejects.toMatchObject({
    outcome: "invalid_task",
    failure: { code: "AGENT_HOME_TAKEN", detail: expect.stringContaining("/var/agent-home") },
  });
});
