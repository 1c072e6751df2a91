import { afterAll, beforeAll, expect, test } from "vitest";
import { packBuffer } from "../../../runner/docker/archive/pack.ts";
import { readArchive } from "../../../runner/docker/archive/read.ts";
import { LABEL, ownerLabels, thisOwner } from "../../../runner/docker/ownership.ts";
import { reap } from "../../../runner/docker/reap.ts";
import { removeVolume } from "../../../runner/docker/remove.ts";
import { fillVolumeFromImage, pruneRuntimeVolumes } from "../../../runner/docker/runtime-volume.ts";
import { createVolume } from "../../../runner/docker/volume.ts";
import { type Bench, openBench, shell } from "../../support/docker.ts";

let bench: Bench;
let image: string;
beforeAll(async () => {
  bench = await openBench();
  // An image of this run's own, so that no other process fills a volume from it.
  await using source = await bench.sleeper();
  await shell(
    source,
    `mkdir -p /runtime/bin && echo ${bench.run} > /runtime/version && ln -s version /runtime/link &&
    printf '#!/bin/sh\\necho tool\\n' > /runtime/bin/tool && chmod 755 /runtime/bin/tool`,
  );
  image = (await source.commit({ labels: bench.labels })).id;
});
afterAll(async () => {
  const filters = { label: [`dev.jacobian-runner.image=${image}`] };
  const { Volumes: volumes } = await bench.engine.docker.listVolumes({ filters });
  for (const { Name: name } of volumes) await removeVolume(bench.engine.docker, name);
  await bench[Symbol.asyncDispose]();
});

test("a volume carries files from one container to the next, and is gone when it is disposed", async () => {
  const volume = await createVolume(bench.engine, bench);
  {
    await using first = await bench.sleeper({ mounts: [{ volume: volume.name, target: "/v" }] });
    await shell(first, "echo x > /v/f");
    expect(await first.anonymousVolumes()).toEqual([]);
  }
  {
    await using second = await bench.sleeper({ mounts: [{ volume: volume.name, target: "/v", readOnly: true }] });
    expect((await shell(second, "cat /v/f; touch /v/g 2>&1")).stdout).toBe(
      "x\ntouch: cannot touch '/v/g': Read-only file system\n",
    );
  }
  await volume[Symbol.asyncDispose]();
  await volume[Symbol.asyncDispose]();
  await expect(bench.engine.docker.getVolume(volume.name).inspect()).rejects.toMatchObject({ statusCode: 404 });
});

test("a volume in memory ends at its size, also for a container with a read-only root, and files go in and out of it", async () => {
  await using volume = await createVolume(bench.engine, { ...bench, tmpfs: { bytes: 4 * 1024 * 1024, inodes: 50 } });
  await using container = await bench.sleeper({
    readOnlyRootfs: true,
    mounts: [{ volume: volume.name, target: "/data" }],
  });
  await container.putArchive(await packBuffer([{ type: "file", path: "in", content: "given" }]), "/data");
  const filled = await shell(
    container,
    "cat /data/in; head -c 9000000 /dev/zero > /data/big; stat -c %s /data/big; touch /x",
  );
  expect(filled.stdout).toMatch(/^given\d+\n$/);
  expect(filled.stderr).toContain("No space left on device");
  expect(filled.stderr).toContain("Read-only file system");
  const tar = await container.getArchive("/data/in");
  if (tar === null) throw new Error("the file is not there");
  expect((await readArchive(tar, { root: "/data/in", onEntry: () => undefined })).bytes).toBe(5);
});

test("a runtime volume is filled once from the image, by whoever asks first, and used again", async () => {
  const names = await Promise.all(
    Array.from({ length: 4 }, () => fillVolumeFromImage(bench.engine, image, "/runtime")),
  );
  expect(new Set(names).size).toBe(1);
  const [name = ""] = names;
  const { Labels: labels } = await bench.engine.docker.getVolume(name).inspect();
  expect(labels).toMatchObject({
    [LABEL.project]: "jacobian-runner",
    [LABEL.role]: "agent-runtime",
    "dev.jacobian-runner.image": image,
    "dev.jacobian-runner.path": "/runtime",
  });
  const { CreatedAt: created } = (await bench.engine.docker.getVolume(name).inspect()) as { CreatedAt?: string };
  await reap(bench.engine);
  expect(await fillVolumeFromImage(bench.engine, image, "/runtime")).toBe(name);
  expect(await bench.engine.docker.getVolume(name).inspect()).toMatchObject({ CreatedAt: created });

  await using agent = await bench.sleeper({
    mounts: [{ volume: name, target: "/opt/agent", readOnly: true, noCopy: true }],
  });
  expect(
    (await shell(agent, "/opt/agent/bin/tool; cat /opt/agent/link; touch /opt/agent/x 2>/dev/null || echo closed"))
      .stdout,
  ).toBe(`tool\n${bench.run}\nclosed\n`);
});

test("a process that died while it filled a runtime volume is not waited for", async () => {
  const name = await fillVolumeFromImage(bench.engine, image, "/runtime");
  await removeVolume(bench.engine.docker, name);
  const owner = { ...(await thisOwner()), boot: "an earlier boot" };
  await bench.engine.docker.createContainer({
    name: name.replace("runtime", "fill"),
    Image: image,
    Cmd: ["true"],
    Labels: { ...ownerLabels(owner, { run: bench.run, role: "runtime-filler" }) },
  });
  expect(await fillVolumeFromImage(bench.engine, image, "/runtime")).toBe(name);
});

test("a runtime volume whose filling was cut off is filled anew", async () => {
  const name = await fillVolumeFromImage(bench.engine, image, "/runtime/bin");
  await removeVolume(bench.engine.docker, name);
  // As a process leaves it that dies in the middle: some files, no marker.
  await bench.engine.docker.createVolume({ Name: name, Labels: { "dev.jacobian-runner.image": image } });
  {
    await using torn = await bench.sleeper({ mounts: [{ volume: name, target: "/v" }] });
    await shell(torn, "echo half > /v/half");
  }
  expect(await fillVolumeFromImage(bench.engine, image, "/runtime/bin")).toBe(name);
  await using agent = await bench.sleeper({ mounts: [{ volume: name, target: "/v", readOnly: true, noCopy: true }] });
  expect((await shell(agent, "ls -A /v")).stdout).toBe(".jacobian-runner-filled\ntool\n");
});

test("runtime volumes go when nothing needs their image, those in use later", async () => {
  const others = (each: string): boolean => each !== image;
  const name = await fillVolumeFromImage(bench.engine, image, "/runtime/bin");
  {
    await using _agent = await bench.sleeper({
      mounts: [{ volume: name, target: "/v", readOnly: true, noCopy: true }],
    });
    expect((await pruneRuntimeVolumes(bench.engine, others)).inUse).toEqual([name]);
  }
  expect(await pruneRuntimeVolumes(bench.engine, () => true)).toEqual({ removed: [], inUse: [] });
  expect((await pruneRuntimeVolumes(bench.engine, others)).removed).toContain(name);
  expect((await pruneRuntimeVolumes(bench.engine, others)).removed).toEqual([]);
});
