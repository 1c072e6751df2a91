import { Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packArchive, packBuffer } from "../../../runner/docker/archive/pack.ts";
import { readArchive } from "../../../runner/docker/archive/read.ts";
import { createCapture } from "../../../runner/docker/capture.ts";
import { type Container, createContainer } from "../../../runner/docker/container.ts";
import { LABEL } from "../../../runner/docker/ownership.ts";
import { type Bench, openBench, run, shell } from "../../support/docker.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench[Symbol.asyncDispose]());

/** Starts a container, waits for its end and gives its output. */
async function outcome(container: Container) {
  const stdout = createCapture();
  const stderr = createCapture();
  const { ended } = await container.attach({ stdout: stdout.write, stderr: stderr.write });
  await container.start();
  const { exitCode } = await container.wait();
  await ended;
  return { exitCode, stdout: String(stdout.captured().head), stderr: String(stderr.captured().head) };
}

async function ours(): Promise<string[]> {
  const filters = { label: [`${LABEL.run}=${bench.run}`] };
  return (await bench.engine.docker.listContainers({ all: true, filters })).map(({ Id: id }) => id);
}

test("a container runs its command once, and its streams arrive apart and whole", async () => {
  await using container = await bench.container({
    entrypoint: [],
    command: ["sh", "-c", "echo out; echo err >&2; exit 7"],
  });
  expect((await container.state()).status).toBe("created");
  expect(await outcome(container)).toEqual({ exitCode: 7, stdout: "out\n", stderr: "err\n" });
  expect(await container.state()).toEqual({
    status: "exited",
    running: false,
    exitCode: 7,
    oomKilled: false,
    pid: null,
    startedAt: expect.stringMatching(/^20/),
    finishedAt: expect.stringMatching(/^20/),
    error: "",
  });
});

test("a container that is over before anybody waits for it is waited for all the same", async () => {
  await using container = await bench.container({ entrypoint: [], command: ["true"] });
  await container.start();
  while ((await container.state()).running) await new Promise((resolve) => setTimeout(resolve, 20));
  expect((await container.wait()).exitCode).toBe(0);
});

test("input written to an attached container arrives byte for byte and ends", async () => {
  await using container = await bench.container({ entrypoint: [], command: ["cat"], stdin: true });
  const stdout = createCapture();
  const { stdin, ended } = await container.attach({ stdout: stdout.write, stderr: stdout.write, stdin: true });
  await container.start();
  const input = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 253));
  stdin?.end(input);
  expect((await container.wait()).exitCode).toBe(0);
  await ended;
  expect(stdout.captured().head.equals(input)).toBe(true);
});

test("a container has no capability, no new privilege, no swap beyond its memory, no restart and no log of its own", async () => {
  await using container = await bench.sleeper({
    limits: { cpus: 0.5, memoryBytes: 256 * 1024 * 1024, pids: 64, shmBytes: 1024 * 1024 },
    hostname: "cell",
    user: "1000",
  });
  const status = await shell(
    container,
    "grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status; hostname; id -u",
  );
  expect(status.stdout).toBe(
    "CapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\ncell\n1000\n",
  );
  const { HostConfig: host, Config: config } = await bench.engine.docker.getContainer(container.id).inspect();
  expect({
    memory: host.Memory,
    swap: host.MemorySwap,
    cpus: host.NanoCpus,
    pids: host.PidsLimit,
    shm: host.ShmSize,
    restart: host.RestartPolicy?.Name,
    log: host.LogConfig?.Type,
    binds: host.Binds,
    privileged: host.Privileged,
    health: config.Healthcheck?.Test,
  }).toEqual({
    memory: 256 * 1024 * 1024,
    swap: 256 * 1024 * 1024,
    cpus: 5e8,
    pids: 64,
    shm: 1024 * 1024,
    restart: "no",
    log: "none",
    binds: null,
    privileged: false,
    health: ["NONE"],
  });
});

test("a capability that is asked for by name is the only one there is", async () => {
  await using container = await bench.sleeper({ capAdd: ["CHOWN"] });
  expect((await shell(container, "grep CapBnd /proc/self/status; chown 7 /tmp && stat -c %u /tmp")).stdout).toBe(
    "CapBnd:\t0000000000000001\n7\n",
  );
});

test("orphans are reaped under a limit of processes (C12)", async () => {
  await using container = await bench.sleeper({ limits: { pids: 64 } });
  const many = await shell(container, "i=0; while [ $i -lt 400 ]; do sh -c 'true &'; i=$((i+1)); done; echo $i");
  expect(many.stdout).toBe("400\n");
  const zombies = "cat /proc/[0-9]*/stat 2>/dev/null | awk '$3==\"Z\"' | wc -l";
  let left = "";
  for (let attempt = 0; attempt < 20 && left !== "0\n"; attempt += 1) left = (await shell(container, zombies)).stdout;
  expect(left).toBe("0\n");
});

test("killing takes a process that ignores everything else, is fine twice, and a container goes without a grace period (C13)", async () => {
  await using container = await bench.sleeper({
    command: ["sh", "-c", "trap '' TERM INT; while :; do sleep 1; done"],
    init: false,
  });
  expect(await container.kill()).toMatchObject({ running: false, exitCode: 137 });
  expect(await container.kill()).toMatchObject({ running: false, exitCode: 137 });
  await container[Symbol.asyncDispose]();
  expect(await container.kill()).toMatchObject({ status: "gone", running: false, exitCode: null });
});

test("a killed container starts again with its files and without its processes", async () => {
  await using container = await bench.sleeper();
  await shell(container, "echo kept > /kept; setsid sleep 500 &");
  await container.kill();
  await container.start();
  expect((await shell(container, "cat /kept; cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c '[5]00'")).stdout).toBe(
    "kept\n0\n",
  );
});

test("a container that cannot start is removed like any other (D4)", async () => {
  const container = await bench.container({ entrypoint: [], command: ["/no/such/program"] });
  await expect(container.start()).rejects.toMatchObject({
    code: "DOCKER_FAILED",
    message: expect.stringContaining("/no/such/program"),
  });
  await container[Symbol.asyncDispose]();
  await container[Symbol.asyncDispose]();
  expect(await ours()).not.toContain(container.id);
});

test("a container that cannot be made whole, or whose making is aborted, leaves nothing (D4)", async () => {
  const before = await ours();
  const spec = { image: bench.image, labels: bench.labels, network: "none" } as const;
  {
    await using unconnected = await createContainer(bench.engine, { ...spec, network: { id: "no-such-network" } });
    await expect(unconnected.start()).rejects.toMatchObject({
      code: "DOCKER_FAILED",
      message: expect.stringContaining("no-such-network"),
    });
  }
  await expect(createContainer(bench.engine, { ...spec, networks: [{ id: "any" }] })).rejects.toMatchObject({
    code: "CONTAINER_SPEC",
  });
  const stop = new AbortController();
  const making = createContainer(bench.engine, spec, { signal: stop.signal });
  setTimeout(() => stop.abort(), 1);
  await expect(making).rejects.toMatchObject({ kind: "interrupted", code: "ABORTED" });
  expect(await ours()).toEqual(before);
});

test("an image that is not there, and more processors than there are, are clear errors", async () => {
  const image = `sha256:${"0".repeat(64)}`;
  const spec = { image, labels: bench.labels, network: "none" } as const;
  await expect(createContainer(bench.engine, spec)).rejects.toMatchObject({
    code: "IMAGE_MISSING",
    message: `there is no image ${image} in the Docker engine`,
  });
  await expect(createContainer(bench.engine, { ...spec, limits: { cpus: 4096 } })).rejects.toMatchObject({
    code: "LIMIT_CPUS",
    message: `4096 processors are asked for, and the engine has ${bench.engine.facts.cpus}`,
  });
});

test("files go in before the start and come out after the end, with their modes (H5)", async () => {
  await using container = await bench.container({ entrypoint: [], command: ["sh", "-c", "/in/run.sh > /in/out"] });
  const entries = [
    { type: "directory", path: "in" },
    { type: "file", path: "in/run.sh", mode: 0o755, content: "#!/bin/sh\necho ran\n" },
  ] as const;
  await container.putArchive(packArchive(entries), "/");
  await container.putArchive(await packBuffer([{ type: "file", path: "more", content: "x" }]), "/in");
  await container.start();
  expect((await container.wait()).exitCode).toBe(0);
  const found: Record<string, string> = {};
  const tar = await container.getArchive("/in");
  const summary = await readArchive(tar ?? Readable.from([]), {
    root: "/in",
    onEntry: async (entry, body) => {
      found[entry.path] =
        "mode" in entry ? `${entry.mode.toString(8)} ${body === null ? "" : await text(body)}` : entry.type;
    },
  });
  expect(found).toEqual({ "": "755 ", "run.sh": "755 #!/bin/sh\necho ran\n", more: "644 x", out: "644 ran\n" });
  expect(summary.refused).toEqual([]);
});

test("what an agent leaves to trap a collector is refused by type, and sockets are not even sent (H3, H4)", async () => {
  await using container = await bench.sleeper();
  await shell(
    container,
    "mkdir -p /logs/d && cd /logs && mkfifo p && ln -s p q && ln -s /etc x && ln -s d/../d ok && echo 1 > d/f && ln d/f hard && " +
      "ln /etc/hostname away 2>/dev/null; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"s\")'",
  );
  await container.kill();
  const found: Record<string, unknown> = {};
  const summary = await readArchive((await container.getArchive("/logs")) ?? Readable.from([]), {
    root: "/logs",
    onEntry: ({ path, ...entry }) => {
      found[path] = entry;
    },
  });
  expect(Object.keys(found).sort()).toEqual(["", "d", "d/f", "hard", "ok", "q"]);
  expect(found.hard).toEqual({ type: "hardlink", target: "d/f" });
  expect(found.q).toMatchObject({ type: "symlink", dangling: true });
  expect(summary.refused).toEqual([
    { path: "p", reason: "fifo" },
    { path: "x", reason: "link-leaves-root", detail: "/etc" },
  ]);
});

test("files that nobody but their owner may enter are collected too, and removed with the container (D9)", async () => {
  await using container = await bench.sleeper();
  await shell(container, "mkdir -m 0700 /logs /logs/x && touch /logs/x/y && chmod 0 /logs/x/y");
  const paths: string[] = [];
  await readArchive((await container.getArchive("/logs")) ?? Readable.from([]), {
    root: "/logs",
    onEntry: ({ path }) => void paths.push(path),
  });
  expect(paths).toEqual(["", "x", "x/y"]);
});

test("a path that is not there is null, a container that is not there is an error", async () => {
  const container = await bench.container();
  expect(await container.getArchive("/no/such/path")).toBeNull();
  await container[Symbol.asyncDispose]();
  await expect(container.getArchive("/etc")).rejects.toMatchObject({ code: "DOCKER_FAILED" });
});

test("what a container changed is listed and measured", async () => {
  await using container = await bench.sleeper();
  const before = new Set((await container.changedPaths()).map(({ path }) => path));
  await shell(container, "head -c 300000 /dev/urandom > /opt/new; rm /etc/issue; echo x >> /etc/debian_version");
  const changed = (await container.changedPaths()).filter(({ path }) => !before.has(path));
  expect(changed).toEqual([
    { path: "/etc", change: "modified" },
    { path: "/etc/debian_version", change: "modified" },
    { path: "/etc/issue", change: "deleted" },
    { path: "/opt", change: "modified" },
    { path: "/opt/new", change: "added" },
  ]);
  const bytes = await container.size();
  expect(bytes).toBeGreaterThanOrEqual(300_000);
  expect(bytes).toBeLessThan(320_000);
});

test("a snapshot holds the dead container's files, and goes away alone", async () => {
  await using container = await bench.sleeper();
  await shell(container, "echo state > /state");
  await container.kill();
  const snapshot = await container.commit({ labels: bench.labels });
  const info = await bench.engine.docker.getImage(snapshot.id).inspect();
  expect(info.Config.Labels).toMatchObject({ [LABEL.run]: bench.run, [LABEL.role]: "snapshot" });
  {
    await using next = await bench.container({ image: snapshot.id, entrypoint: [], command: ["cat", "/state"] });
    expect((await outcome(next)).stdout).toBe("state\n");
  }
  await snapshot[Symbol.asyncDispose]();
  await snapshot[Symbol.asyncDispose]();
  await expect(bench.engine.docker.getImage(snapshot.id).inspect()).rejects.toMatchObject({ statusCode: 404 });
  expect((await bench.engine.docker.getImage(bench.image).inspect()).Id).toBe(bench.image);
});

test("an image's entrypoint, health check and volumes: replaced, silenced, listed and removed (D3)", async () => {
  await using source = await bench.container();
  const committed: { Id: string } = await bench.engine.docker.getContainer(source.id).commit({
    _query: { container: source.id },
    _body: {
      Labels: { ...bench.labels, [LABEL.role]: "snapshot" },
      Entrypoint: ["echo", "entry"],
      Cmd: ["command"],
      Volumes: { "/data": {}, "/other": {} },
      Healthcheck: { Test: ["CMD-SHELL", "exit 1"], Interval: 1e9 },
    },
  });
  const image = committed.Id;
  const said = async (spec: Parameters<Bench["container"]>[0]) => {
    await using container = await bench.container({ image, ...spec });
    return (await outcome(container)).stdout;
  };
  expect(await said({})).toBe("entry command\n");
  expect(await said({ command: ["mine"] })).toBe("entry mine\n");
  expect(await said({ entrypoint: [], command: ["echo", "only"] })).toBe("only\n");
  expect(await said({ entrypoint: ["echo", "a"], command: ["b"] })).toBe("a b\n");

  const container = await bench.sleeper({ image, entrypoint: [] });
  expect((await bench.engine.docker.getContainer(container.id).inspect()).State.Health).toBeUndefined();
  await shell(container, "echo kept > /data/f");
  const volumes = await container.anonymousVolumes();
  expect(volumes.map(({ target }) => target).sort()).toEqual(["/data", "/other"]);
  const data = volumes.find(({ target }) => target === "/data")?.name ?? "";
  await container.kill();
  {
    await using next = await bench.sleeper({ mounts: [{ volume: data, target: "/data", readOnly: true }] });
    expect((await shell(next, "cat /data/f; echo no > /data/f")).stdout).toBe("kept\n");
    expect(await next.anonymousVolumes()).toEqual([]);
  }
  await container[Symbol.asyncDispose]();
  for (const { name } of volumes) {
    await expect(bench.engine.docker.getVolume(name).inspect()).rejects.toMatchObject({ statusCode: 404 });
  }
  await bench.engine.docker.getImage(image).remove();
});

test("a limit above the host's own does not keep a container from starting", async () => {
  await using container = await bench.sleeper({
    limits: { ulimits: [{ name: "nofile", soft: 1_048_576, hard: 1_048_576 }] },
  });
  expect((await shell(container, "ulimit -c; ulimit -n")).stdout).toMatch(/^0\n\d+\n$/);
});

test("a large file comes out as it is, however fast it is read", async () => {
  await using container = await bench.sleeper();
  await run(container, ["sh", "-c", "head -c 30000000 /dev/zero | tr '\\0' z > /big"]);
  const seen: Buffer[] = [];
  await readArchive((await container.getArchive("/big")) ?? Readable.from([]), {
    root: "/big",
    onEntry: async (_, body) => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      seen.push(await buffer(body ?? Readable.from([])));
    },
  });
  expect(seen.map((bytes) => bytes.equals(Buffer.alloc(30_000_000, "z")))).toEqual([true]);
});
