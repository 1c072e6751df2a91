// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Dockerfiles spell variables this way.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Docker from "dockerode";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { buildImages } from "../../../runner/image/build-images.ts";
import { type BuildTaskImageOptions, buildTaskImage, type TaskImage } from "../../../runner/image/build-task-image.ts";
import { parseImageMaps } from "../../../runner/image/image-map.ts";
import type { ImagesLock } from "../../../runner/image/lock.ts";
import { type TestProject, testProject } from "./project.ts";

const docker = new Docker();
const LABEL = "dev.jacobian-runner.test";
let project: TestProject;
let lock: ImagesLock;
let state: string;
let count = 0;
let folder: string;

beforeAll(async () => {
  project = await testProject();
  lock = (await buildImages({ docker, projectRoot: project.root })).lock;
  state = await mkdtemp(join(tmpdir(), "task-image-"));
});
beforeEach(() => {
  count += 1;
  folder = `task-${count}`;
});
afterAll(async () => {
  const filters = { label: [`${LABEL}=task-image`] };
  for (const info of await docker.listImages({ filters })) await docker.getImage(info.Id).remove({ force: true });
  await rm(state, { recursive: true, force: true });
  await project?.[Symbol.asyncDispose]();
});

async function put(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) await project.put(`${folder}/${path}`, text);
}

const lines: string[] = [];
function build(more: Partial<BuildTaskImageOptions> = {}): Promise<TaskImage> {
  lines.length = 0;
  return buildTaskImage({
    docker,
    contextFolder: join(project.root, folder),
    maps: [],
    lock,
    network: "none",
    hostCa: null,
    stateFolder: state,
    labels: { [LABEL]: "task-image" },
    timeoutMs: 120_000,
    report: (line) => lines.push(line),
    ...more,
  });
}

/** What a shell line prints in a container of an image. */
async function run(imageId: string, script: string): Promise<string> {
  const chunks: Buffer[] = [];
  const { PassThrough } = await import("node:stream");
  const out = new PassThrough();
  out.on("data", (chunk: Buffer) => chunks.push(chunk));
  const [, container] = (await docker.run(imageId, ["-c", script], out, {
    Entrypoint: ["/bin/sh"],
    Tty: true,
    HostConfig: { NetworkMode: "none" },
  })) as [unknown, Docker.Container];
  await container.remove({ force: true });
  return Buffer.concat(chunks).toString().replaceAll("\r\n", "\n");
}

describe("buildTaskImage", () => {
  it("builds stages on our own base by the lock, copies the context with fixed modes, and finds the image the second time", async () => {
    await put({
      Dockerfile: [
        "ARG BASE=jacobian-runner/base",
        "FROM ${BASE} AS one",
        "RUN echo built > /made",
        "FROM jacobian-runner/base:latest",
        "WORKDIR /app",
        "COPY . .",
        "COPY --from=one /made /app/made",
      ].join("\n"),
      "input.json": "{}\n",
      "notes.md": "not for the agent\n",
      ".dockerignore": "*.md\n.dockerignore\nDockerfile\n",
    });
    const built = await build();
    const id = lock.images.base?.imageId;
    expect({ cached: built.cached, replaced: built.replaced, bases: built.bases }).toEqual({
      cached: false,
      replaced: [],
      bases: ["jacobian-runner/base", "jacobian-runner/base:latest"].map((reference) => ({
        reference,
        replaced: null,
        imageId: id,
        identity: lock.images.base?.configDigest,
      })),
    });
    expect(await run(built.imageId, "stat -c '%n %a %U %Y' *; cat made")).toBe(
      `input.json 644 root 1750000000\nmade 644 root ${await mtime(built)}\nbuilt\n`,
    );
    expect(lines.some((line) => line.startsWith("Step "))).toBe(true);
    const again = await build();
    expect({ ...again, cached: false }).toEqual(built);
    expect([again.cached, lines]).toEqual([true, []]);
  });

  async function mtime(built: TaskImage): Promise<string> {
    return (await run(built.imageId, "stat -c %Y made")).trim();
  }

  it("replaces bases by the image map, says so, and has another digest", async () => {
    await put({ Dockerfile: `FROM --platform=linux/amd64 python:3.12-slim@sha256:${"0".repeat(64)}\nCMD true\n` });
    const built = await build({ maps: parseImageMaps(["python:3.12-slim=jacobian-runner/base"]) });
    const reference = `python:3.12-slim@sha256:${"0".repeat(64)}`;
    expect(built.replaced).toEqual([{ from: reference, to: "jacobian-runner/base" }]);
    const direct = await build({ maps: parseImageMaps(["*=jacobian-runner/base:latest"]) });
    expect(direct.inputDigest).not.toBe(built.inputDigest);
  });

  it("gives commands the host's private authority and keeps it out of the image's settings and context", async () => {
    await put({
      Dockerfile:
        'FROM jacobian-runner/base\nWORKDIR /app\nRUN test "$SSL_CERT_FILE" = "$PIP_CERT" && cat "$SSL_CERT_FILE" > /seen\nCOPY . .\n',
    });
    const hostCa = { privatePem: "PRIVATE\n", bundlePem: "PUBLIC\nPRIVATE\n" };
    const built = await build({ hostCa, network: "default" });
    const { Config } = await docker.getImage(built.imageId).inspect();
    expect(Config.Env.filter((line) => /CERT|CA_/.test(line))).toEqual([]);
    expect(await run(built.imageId, 'cat /seen; ls -a1 /app; echo "[$SSL_CERT_FILE]"')).toBe(
      "PUBLIC\nPRIVATE\n.\n..\nDockerfile\n[]\n",
    );
    const without = await build({ network: "default" });
    expect([without.inputDigest, without.cached]).toEqual([built.inputDigest, true]);
    const filters = { label: ["dev.jacobian-runner.image=host-ca"] };
    for (const info of await docker.listImages({ filters })) {
      const tags = info.RepoTags ?? [];
      if ((await docker.getImage(info.Id).inspect()).Size < 100)
        for (const tag of tags) await docker.getImage(tag).remove();
    }
  });

  it("builds by BuildKit what only BuildKit can, and reads its output", async () => {
    // A step that BuildKit remembers prints nothing.
    const word = `from-buildkit-${process.hrtime.bigint()}`;
    await put({
      Dockerfile: `# syntax=docker/dockerfile:1\nFROM jacobian-runner/base\nRUN --mount=type=tmpfs,target=/mnt echo ${word} && echo kept > /kept\n`,
    });
    const built = await build();
    expect(await run(built.imageId, "cat /kept")).toBe("kept\n");
    expect(lines).toContain(word);
    await put({
      Dockerfile: "FROM jacobian-runner/base\nRUN --mount=type=tmpfs,target=/mnt echo it broke && exit 7\n",
    });
    await expect(build()).rejects.toMatchObject({
      code: "BUILD_FAILED",
      message: expect.stringMatching(/exit code: 7[\s\S]*it broke/),
    });
  });

  it("says what a failing command printed", async () => {
    await put({ Dockerfile: "FROM jacobian-runner/base\nRUN echo it broke && exit 7\n" });
    await expect(build()).rejects.toMatchObject({
      kind: "input",
      code: "BUILD_FAILED",
      message: expect.stringMatching(/returned a non-zero code: 7[\s\S]*it broke/),
    });
  });

  it("has no network when it is to have none", async () => {
    await put({ Dockerfile: "FROM jacobian-runner/base\nRUN ls /sys/class/net > /net\n" });
    expect(await run((await build()).imageId, "cat /net")).toBe("lo\n");
  });

  it("ends a build at its time limit and at an interruption", async () => {
    await put({ Dockerfile: "FROM jacobian-runner/base\nRUN echo slow && sleep 600\n" });
    await expect(build({ timeoutMs: 3000 })).rejects.toMatchObject({ code: "BUILD_TIMEOUT" });
    const stop = new AbortController();
    const running = build({ signal: stop.signal, report: (line) => line === "slow" && stop.abort() });
    await expect(running).rejects.toMatchObject({ kind: "interrupted" });
  });

  it("says which base cannot be had, and how to do without it", async () => {
    await put({ Dockerfile: "FROM 127.0.0.1:9/nothing/here:1\n" });
    await expect(build()).rejects.toMatchObject({
      kind: "environment",
      code: "REGISTRY_UNREACHABLE",
      hint: "Make the registry reachable, or name a local image: --image-map 127.0.0.1:9/nothing/here:1=IMAGE.",
    });
    await put({ Dockerfile: "FROM jacobian-runner/ghost\n" });
    await expect(build()).rejects.toMatchObject({ code: "IMAGE_NOT_BUILT" });
  });
});
