import { randomUUID } from "node:crypto";
import { PassThrough } from "node:stream";
import Docker from "dockerode";
import { pack } from "tar-stream";
import { afterEach, expect, it } from "vitest";
import { INPUT_LABEL } from "../../../runner/image/names.ts";
import { pruneImages } from "../../../runner/image/prune-images.ts";

const docker = new Docker();
const label = `dev.jacobian-runner.test=prune-${randomUUID()}`;
const [key, value] = label.split("=") as [string, string];

afterEach(async () => {
  const filters = JSON.stringify({ label: [label] });
  for (const { Id } of await docker.listContainers({ all: true, filters }))
    await docker.getContainer(Id).remove({ force: true });
  for (const { Id } of await docker.listImages({ filters })) await docker.getImage(Id).remove({ force: true });
});

/** An image of one small file, with the test's label, ours or not. */
async function image(name: string, ours: boolean): Promise<string> {
  const context = pack();
  context.entry({ name: "Dockerfile" }, "FROM scratch\nCOPY name /name\n");
  context.entry({ name: "name" }, `${name} ${randomUUID()}`);
  context.finalize();
  const stream = await docker.buildImage(context.pipe(new PassThrough()), {
    t: `${name}:1`,
    labels: { [key]: value, ...(ours ? { [INPUT_LABEL]: `sha256:${"0".repeat(64)}` } : {}) },
  });
  await new Promise((resolve, reject) =>
    docker.modem.followProgress(stream, (error) => (error ? reject(error) : resolve(null))),
  );
  return (await docker.getImage(`${name}:1`).inspect()).Id;
}

it("removes the runner's images but for those that are kept or in use, and leaves the images of others alone", async () => {
  const run = randomUUID().slice(0, 8);
  const [old, kept, used, foreign] = ["old", "kept", "used", "foreign"].map((word) => `prune-${run}/${word}`);
  if (old === undefined || kept === undefined || used === undefined || foreign === undefined) throw new Error("names");
  await image(old, true);
  const keptId = await image(kept, true);
  await image(used, true);
  await image(foreign, false);
  await docker.createContainer({ Image: `${used}:1`, Cmd: ["/name"], Labels: { [key]: value } });
  await docker.getImage(`${old}:1`).tag({ repo: old, tag: "2" });

  const pruned = await pruneImages({ docker, keep: new Set([keptId as `sha256:${string}`]), label });

  expect(pruned).toEqual({ removed: [`${old}:1`, `${old}:2`], inUse: [`${used}:1`] });
  const left = await docker.listImages({ filters: JSON.stringify({ label: [label] }) });
  expect(left.flatMap(({ RepoTags }) => RepoTags).sort()).toEqual([`${foreign}:1`, `${kept}:1`, `${used}:1`].sort());
  expect(await pruneImages({ docker, keep: new Set([keptId as `sha256:${string}`]), label })).toEqual({
    removed: [],
    inUse: [`${used}:1`],
  });
});
