import { expect, test } from "vitest";
import { findPlants, plantPaths } from "../../../runner/trial/plants.ts";

const ambient = { home: [".codex"], project: ["AGENTS.md"], system: ["/etc/codex"], masked: ["/etc/codex"] };

test("plants are looked for in the working directory, all folders above it, the user's homes and the system's folders", () => {
  const scope = { workdir: "/app/src", user: "dev:dev", env: ["PATH=/bin", "HOME=/data/home"] };
  expect(plantPaths(ambient, scope)).toEqual([
    "/AGENTS.md",
    "/app/AGENTS.md",
    "/app/src/AGENTS.md",
    "/data/home/.codex",
    "/etc/codex",
    "/home/dev/.codex",
    "/root/.codex",
  ]);
  expect(plantPaths(ambient, { workdir: "/", user: "1000", env: [] })).toEqual([
    "/AGENTS.md",
    "/etc/codex",
    "/root/.codex",
  ]);
});

test("what is there is named, sorted, and nothing else", async () => {
  const there = new Set(["/etc/codex", "/app/AGENTS.md"]);
  const container = { exists: async (path: string) => there.has(path) };
  const scope = { workdir: "/app", user: null, env: [] };
  expect(await findPlants(container, ambient, scope, AbortSignal.timeout(1000))).toEqual([
    "/app/AGENTS.md",
    "/etc/codex",
  ]);
});
