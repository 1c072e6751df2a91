import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { packArchive } from "../../../runner/docker/archive/pack.ts";
import type { Container } from "../../../runner/docker/container.ts";
import type { ObjectStore } from "../../../runner/evidence/store.ts";
import { collect, LISTED_BYTES } from "../../../runner/trial/collect.ts";

test("however long the names are that an agent makes, a record stays readable, and what it does not name is counted", async () => {
  const folder = Array.from({ length: 16 }, () => "d".repeat(240)).join("/");
  const count = 4000;
  const entries = Array.from({ length: count }, (_, index) => ({
    path: `logs/agent/${index}/${folder}`,
    type: "directory" as const,
    mode: 0o755,
  }));
  const container = {
    getArchive: async (root: string) => (root === "/logs" ? Readable.from(packArchive(entries)) : null),
  } as unknown as Container;
  const { artifacts, refused } = await collect(container, {} as ObjectStore, [], "/", new AbortController().signal);
  expect(Buffer.byteLength(JSON.stringify(artifacts))).toBeLessThan(LISTED_BYTES * 1.01);
  expect(artifacts.length).toBeGreaterThan(1000);
  expect(refused).toEqual([{ path: "/logs", reason: `limit: names of ${count - artifacts.length} more` }]);
});
