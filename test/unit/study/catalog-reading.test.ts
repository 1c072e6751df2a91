import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { digestBytes } from "../../../runner/base/digest.ts";
import { findCatalogReading, keepCatalogReading } from "../../../runner/study/catalog-reading.ts";
import type { McpPlan } from "../../../runner/trial/spec.ts";

const SERVER: McpPlan = {
  name: "server",
  image: digestBytes("image"),
  command: ["serve", "--port", "8000"],
  url: "http://server:8000/mcp",
  startMicros: 1,
  memoryBytes: 1,
  surface: {
    schemaVersion: "1",
    server: { name: "s", version: "1" },
    protocolVersion: "1",
    capabilities: {},
    instructions: null,
    tools: [],
    catalog: null,
  },
  catalogUri: "operation://catalog",
};
const CATALOG = {
  uri: "operation://catalog",
  digest: digestBytes("operations"),
  operationCount: 2,
  contentSha256: digestBytes("text"),
  contentBytes: 4,
};
const READING = { catalog: CATALOG, readAt: "2026-11-30T12:00:00.000Z" };

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "catalogs-"));
  await keepCatalogReading(dir, SERVER, READING);
});
afterAll(() => rm(dir, { recursive: true }));

test("a reading stands for the server that it was made of, whatever it is called and however much memory it has", async () => {
  expect(await findCatalogReading(dir, { ...SERVER, name: "other", memoryBytes: 2 })).toMatchObject(READING);
});

test.each(["", "{", "[]", '{"schemaVersion":"1"}'])("a file that holds %j is no reading", async (content) => {
  const folder = await mkdtemp(join(dir, "broken-"));
  await keepCatalogReading(folder, SERVER, READING);
  const [name = ""] = await readdir(join(folder, "catalogs"));
  await writeFile(join(folder, "catalogs", name), content);
  expect(await findCatalogReading(folder, SERVER)).toBeNull();
});

test.each([
  ["another image", { image: digestBytes("upgrade") }],
  ["another command", { command: ["serve"] }],
  ["another address", { url: "http://server:9000/mcp" }],
  ["another resource", { catalogUri: "operation://other" }],
  ["no resource", { catalogUri: null }],
])("it says nothing about %s", async (_title, change) => {
  expect(await findCatalogReading(dir, { ...SERVER, ...change })).toBeNull();
});
