import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import Docker from "dockerode";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { imageConfig } from "../../../runner/image/archive.ts";
import { type BuildImagesResult, buildImages } from "../../../runner/image/build-images.ts";
import { exportLayers, loadImage } from "../../../runner/image/load-image.ts";
import { contentOf, readTar } from "../../../runner/image/tar-entries.ts";
import { staleImages, verifyImages } from "../../../runner/image/verify-images.ts";
import { recipe, type TestProject, testProject } from "./project.ts";

const docker = new Docker();
const SCRIPT = `set -eu
test -s "$KIT/recipe/build.sh"
mkdir -p /opt/tiny /var/cache/apt
echo content > /opt/tiny/file
ln -s file /opt/tiny/link
rm /etc/issue.net
echo noise > /var/cache/apt/noise
echo noise > /tmp/noise
date > /var/log/when
`;

let project: TestProject;
let first: BuildImagesResult;
const lines: string[] = [];
const build = (more: object = {}): Promise<BuildImagesResult> =>
  buildImages({ docker, projectRoot: project.root, report: (line) => lines.push(line), ...more });

beforeAll(async () => {
  project = await testProject();
  await project.put(
    "images/test-tiny/image.json",
    recipe("test-tiny", {
      kind: "layer",
      from: "base",
      build: { in: "base", script: "build.sh", capture: "changes" },
      config: { env: { T: "1" }, workdir: "/opt/tiny" },
    }),
  );
  await project.put("images/test-tiny/build.sh", SCRIPT);
  await project.put(
    "images/test-bare/image.json",
    recipe("test-bare", { kind: "layer", from: null, files: [{ recipe: "words", to: "/opt/words", mode: "0600" }] }),
  );
  await project.put("images/test-bare/words", "words\n");
  first = await build();
});

afterAll(async () => {
  const names = ["test-tiny", "test-bare"];
  for (const info of await docker.listImages({
    filters: { label: names.map((name) => `dev.jacobian-runner.image=${name}`) },
  })) {
    await docker.getImage(info.Id).remove({ force: true });
  }
  for (const name of names) {
    const filters = { label: [`dev.jacobian-runner.image=${name}`] };
    for (const info of await docker.listImages({ filters })) await docker.getImage(info.Id).remove({ force: true });
  }
  await project?.[Symbol.asyncDispose]();
});

/** Paths and contents of an image's top layer. */
async function topLayer(name: string): Promise<Record<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), "top-"));
  try {
    const image = first.images[name];
    const top = image?.diffIds.at(-1);
    if (image === undefined || top === undefined) throw new Error(`no ${name}`);
    const [layer] = await exportLayers(docker, image.imageId, [top], folder);
    const { createReadStream } = await import("node:fs");
    const found: Record<string, string> = {};
    for await (const entry of readTar(Readable.from(createReadStream(layer?.file ?? "")))) {
      found[entry.path] = entry.type === "file" ? (await contentOf(entry)).toString() : `(${entry.type})`;
    }
    return found;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

describe("buildImages", () => {
  it("makes a layer of what a script changed, without caches, logs and its own kit", async () => {
    const layer = await topLayer("test-tiny");
    expect(layer).toMatchObject({
      "opt/tiny": "(directory)",
      "opt/tiny/file": "content\n",
      "opt/tiny/link": "(symlink)",
      "etc/.wh.issue.net": "",
    });
    expect(Object.keys(layer).filter((path) => /noise|when|runner-build|resolv|hostname/.test(path))).toEqual([]);
  });

  it("makes an image of files alone", async () => {
    expect(await topLayer("test-bare")).toEqual({ opt: "(directory)", "opt/words": "words\n" });
  });

  it("finds everything the second time, starts nothing and says nothing", async () => {
    lines.length = 0;
    const again = await build();
    expect({ built: again.built, cached: [...again.cached].sort(), images: again.images, lines }).toEqual({
      built: [],
      cached: ["base", "test-bare", "test-tiny"],
      images: first.images,
      lines: [],
    });
  });

  it("finds images of another checkout by their inputs", async () => {
    const other = await build({ stateFolder: join(project.root, "other-state") });
    expect({ built: other.built, images: other.images }).toEqual({ built: [], images: first.images });
  });

  it("gives the same id when it builds again", async () => {
    const again = await build({ names: ["test-tiny"], force: true });
    expect(again.images["test-tiny"]).toEqual(first.images["test-tiny"]);
  });

  it("is told apart from the lock by verifyImages", async () => {
    const states = async (): Promise<Record<string, string>> =>
      Object.fromEntries(
        (await verifyImages({ docker, projectRoot: project.root })).map(({ name, state }) => [name, state]),
      );
    expect(await states()).toEqual({ base: "current", "test-bare": "current", "test-tiny": "current" });
    await project.put("images/test-bare/words", "other words\n");
    expect(await states()).toEqual({ base: "current", "test-bare": "stale", "test-tiny": "current" });
    expect(await staleImages(project.root, first.lock, () => true)).toEqual(["test-bare"]);
    expect(await staleImages(project.root, first.lock, (name) => name !== "test-bare")).toEqual([]);
    await project.put("images/test-bare/words", "words\n");
    await docker.getImage("jacobian-runner/test-bare:latest").remove();
    expect(await states()).toEqual({ base: "current", "test-bare": "altered", "test-tiny": "current" });
    expect((await build()).built).toEqual([]);
    expect(await states()).toEqual({ base: "current", "test-bare": "current", "test-tiny": "current" });
  });

  it("says what a failing script printed, and leaves no container", async () => {
    await project.put(
      "images/test-broken/image.json",
      recipe("test-broken", {
        kind: "layer",
        from: "base",
        build: { in: "base", script: "build.sh", capture: ["/opt"] },
      }),
    );
    await project.put("images/test-broken/build.sh", "echo something is wrong >&2\nexit 3\n");
    await expect(build({ names: ["test-broken"], labels: { "test-run": "broken" } })).rejects.toMatchObject({
      code: "BUILD_FAILED",
      message: "building test-broken: the build script ended with 3\nsomething is wrong",
    });
    expect(await docker.listContainers({ all: true, filters: { label: ["test-run=broken"] } })).toEqual([]);
    await project.put(
      "images/test-broken/build.sh",
      "echo \"Temporary failure resolving 'mirror.example.org'\"\nexit 100\n",
    );
    await expect(build({ names: ["test-broken"] })).rejects.toMatchObject({
      kind: "environment",
      code: "PACKAGE_INDEX_UNREACHABLE",
    });
    await project.put("images/test-broken/build.sh", "exit 65\n");
    await expect(build({ names: ["test-broken"] })).rejects.toMatchObject({
      kind: "integrity",
      code: "PACKAGE_HASH_MISMATCH",
    });
  });

  it("stops at once when it is interrupted, and leaves no container", async () => {
    await project.put("images/test-broken/build.sh", "echo started\nsleep 600\n");
    const stop = new AbortController();
    const running = build({ names: ["test-broken"], signal: stop.signal, labels: { "test-run": "stopped" } });
    const filters = { label: ["test-run=stopped"], status: ["running"] };
    const waiting = async (): Promise<void> => {
      while ((await docker.listContainers({ filters })).length === 0) await new Promise((done) => setTimeout(done, 50));
      stop.abort();
    };
    await expect(Promise.all([running, waiting()])).rejects.toMatchObject({ kind: "interrupted" });
    expect(await docker.listContainers({ all: true, filters: { label: ["test-run=stopped"] } })).toEqual([]);
  });

  it("refuses a name without recipe", async () => {
    await expect(build({ names: ["ghost"] })).rejects.toMatchObject({ code: "IMAGE_UNKNOWN" });
  });
});

describe("loadImage", () => {
  it("gives an engine the parent's layers where it wants them", async () => {
    const tiny = first.images["test-tiny"];
    if (tiny === undefined) throw new Error("no image");
    const folder = await mkdtemp(join(tmpdir(), "load-"));
    const settings = { env: {}, entrypoint: null, cmd: ["true"], workdir: null, user: null };
    const labels = { "dev.jacobian-runner.image": "test-bare" };
    try {
      const layers = await exportLayers(docker, tiny.imageId, tiny.diffIds, folder);
      expect(layers.map(({ diffId }) => diffId)).toEqual(tiny.diffIds);
      const config = imageConfig("test-whole", settings, tiny.diffIds, labels);
      const tags: [string] = ["jacobian-runner/test-whole:1"];
      const whole = await loadImage(docker, { config, layers, tags, parentId: null, workFolder: folder });
      const thin = await loadImage(docker, { config, layers: [], tags, parentId: tiny.imageId, workFolder: folder });
      expect(thin).toBe(whole);
    } finally {
      await rm(folder, { recursive: true, force: true });
      await docker.getImage("jacobian-runner/test-whole:1").remove({ force: true });
    }
  });
});
