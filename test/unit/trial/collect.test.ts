import { posix } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { expect, test } from "vitest";
import { canonicalBytes } from "../../../runner/base/canonical-json.ts";
import { digestBytes } from "../../../runner/base/digest.ts";
import { packArchive } from "../../../runner/docker/archive/pack.ts";
import type { Container } from "../../../runner/docker/container.ts";
import type { ObjectStore } from "../../../runner/evidence/store.ts";
import { MAX_RECORD_BYTES } from "../../../runner/study/unsealed.ts";
import { collect } from "../../../runner/trial/collect.ts";
import { readVerifierLogs } from "../../../runner/trial/verifier-logs.ts";

const { signal } = new AbortController();
const LONG = Array.from({ length: 16 }, () => "d".repeat(240)).join("/");
const COUNT = 4000;

const archives = new Map<string, Buffer>();

/** An archive of many entries of long names; those of the logs are the agent's. Made once for all tests. */
async function archiveOf(root: string, type: "directory" | "file"): Promise<Buffer> {
  const known = archives.get(root);
  if (known !== undefined) return known;
  const made = await buffer(
    Readable.from(
      packArchive(
        Array.from({ length: type === "file" ? COUNT / 2 : COUNT }, (_, index) => {
          const path = `${root === "/logs" ? "logs/agent" : posix.basename(root)}/${index}/${LONG}`;
          return type === "file" ? { path, type, mode: 0o644, content: "x" } : { path, type, mode: 0o755 };
        }),
      ),
    ),
  );
  archives.set(root, made);
  return made;
}

/** A dead container that has these folders. */
function container(below: Readonly<Record<string, "directory" | "file">>): Container {
  return {
    getArchive: async (root: string) => {
      const type = below[root];
      return type === undefined ? null : Readable.from([await archiveOf(root, type)]);
    },
  } as unknown as Container;
}

const store = {
  putStream: async (source: AsyncIterable<Uint8Array>) => {
    for await (const _ of source);
    return { digest: digestBytes("x"), size: 1 };
  },
  readAll: async () => Buffer.from("x"),
} as unknown as ObjectStore;

test("however long the names are that an agent makes, a record stays readable, and what it does not name is counted", async () => {
  const dead = container({ "/logs": "directory" });
  const { artifacts, refused } = await collect(dead, store, [], "/", 1, signal);
  expect(Buffer.byteLength(JSON.stringify(artifacts))).toBeLessThan(12.2 * 1024 ** 2);
  expect(artifacts.length).toBeGreaterThan(1000);
  expect(refused).toEqual([{ path: "/logs", reason: `limit: names of ${COUNT - artifacts.length} more` }]);
});

test.each([1, 5, 40])(
  "a record of a task with %i steps that are all full of long names can be sealed and read",
  async (steps) => {
    const declared = ["/app", "/data"].map((source) => ({ source, exclude: [], implicit: false }));
    const dead = container({ "/logs": "directory", "/app": "directory", "/data": "directory" });
    const { artifacts, refused, planted } = await collect(dead, store, declared as never, "/", steps, signal);
    const logs = await readVerifierLogs(store, container({ "/logs/verifier": "file" }), steps, signal);
    expect(refused.at(-1)?.reason).toMatch(/^limit: names of \d+ more$/);
    expect(artifacts.length * steps).toBeGreaterThan(1000);
    const files = logs.files.map(({ path, content }) => ({ path, content }));
    const step = { artifacts, refused, planted, verifier: { files, refused: logs.refused } };
    const bytes = steps * canonicalBytes(step).length;
    expect(bytes).toBeLessThan(0.75 * MAX_RECORD_BYTES);
    // The room is used, too.
    expect(bytes).toBeGreaterThan(0.2 * MAX_RECORD_BYTES);
  },
);
