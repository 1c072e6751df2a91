import { statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { freeDisk, requireDisk } from "../../../runner/docker/disk.ts";
import type { Engine } from "../../../runner/docker/engine.ts";

const engineAt = (dataRoot: string, endpoint: Engine["endpoint"] = { kind: "unix", socketPath: "/s" }) =>
  ({ endpoint, facts: { dataRoot } }) as Engine;

test("free bytes are those of the data root's file system", async () => {
  const { blocks, bsize } = await statfs(tmpdir());
  const free = await freeDisk(engineAt(tmpdir()));
  expect(free).toSatisfy((bytes: number) => bytes > 0 && bytes <= blocks * bsize);
});

test("too little free disk is refused with both figures (D3)", async () => {
  await expect(requireDisk(engineAt(tmpdir()), 1e18)).rejects.toMatchObject({
    kind: "environment",
    code: "NO_SPACE",
    message: expect.stringMatching(/ has \d+\.\d GB free, and 1000000000\.0 GB are needed$/),
    details: { neededBytes: 1e18 },
  });
  expect(await requireDisk(engineAt(tmpdir()), 1)).toBeGreaterThan(0);
});

test("a data root that cannot be seen is unknown, never 0, and does not stop the work", async () => {
  expect(await requireDisk(engineAt("/no/such/folder"))).toMatchObject({ unknown: "unavailable" });
  const remote = engineAt("/var/lib/docker", { kind: "tcp", host: "h", port: 1 });
  expect(await requireDisk(remote)).toEqual({ unknown: "unavailable", detail: "the engine is on another machine" });
});
