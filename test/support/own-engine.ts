import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, open, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { execa } from "execa";
import { connectEngine } from "../../runner/docker/engine.ts";
import { ROOT, type RunOptions, until } from "./e2e.ts";

/** Images that a scripted study with a stand-in server needs. */
const IMAGES = ["base", "workbench", "verifier", "gateway", "agent-toolloop"];

/** A Docker engine that belongs to one test, and a runner that has its local state for this engine alone. */
export interface OwnEngine extends AsyncDisposable {
  /** How the runner is started against it. */
  readonly options: RunOptions;
  /** Kills the engine without a word, and starts it again. */
  readonly killAndRestart: () => Promise<void>;
}

/**
 * Starts an engine with a data root, a socket, and network and mount namespaces of its own, so that killing it touches nobody else's
 * containers, interfaces or firewall, and gives it the runner's images. Needs root.
 */
export async function startOwnEngine(dir: string): Promise<OwnEngine> {
  await mkdir(dir, { recursive: true });
  const socket = `unix://${join(dir, "docker.sock")}`;
  // The namespaces outlive the engine, as a machine outlives it.
  const holder = spawn("unshare", ["--net", "--mount", "--propagation", "private", "sleep", "infinity"], {
    stdio: "ignore",
  });
  const inside = (words: readonly string[]): string[] => ["--target", String(holder.pid), "--net", "--mount", ...words];
  await until("namespaces", async () => (await execa("nsenter", inside(["true"]), { reject: false })).exitCode === 0);
  await until("a loopback interface", async () => {
    const { exitCode } = await execa("nsenter", inside(["ip", "link", "set", "lo", "up"]), { reject: false });
    return exitCode === 0;
  });
  const log = await open(join(dir, "dockerd.log"), "a");
  const env = { ...process.env, DOCKER_HOST: socket };
  let daemon: ChildProcess | null = null;
  const boot = async (): Promise<void> => {
    await rm(join(dir, "docker.pid"), { force: true });
    const words = [
      "--data-root",
      join(dir, "data"),
      "--exec-root",
      join(dir, "exec"),
      "--pidfile",
      join(dir, "docker.pid"),
    ];
    const child = spawn("nsenter", inside(["dockerd", "--host", socket, ...words]), {
      stdio: ["ignore", log.fd, log.fd],
    });
    daemon = child;
    await until("the engine's first answer", async () => {
      if (child.exitCode !== null)
        throw new Error(`dockerd ended: ${await readFile(join(dir, "dockerd.log"), "utf8")}`);
      return connectEngine({ env }).then(
        async (engine) => {
          await engine[Symbol.asyncDispose]();
          return true;
        },
        () => false,
      );
    });
  };
  await boot();
  const root = await makeProgram(join(dir, "runner"), env);
  return {
    options: { env: { DOCKER_HOST: socket }, program: join(root, "dist", "cli.mjs") },
    killAndRestart: async () => {
      const child = daemon;
      // nsenter has become dockerd, so this is the engine itself.
      child?.kill("SIGKILL");
      if (child !== null && child.exitCode === null && child.signalCode === null) await once(child, "exit");
      await killContainerd(dir);
      await sleep(500);
      await boot();
    },
    [Symbol.asyncDispose]: async () => {
      const child = daemon;
      child?.kill("SIGTERM");
      if (child !== null && child.exitCode === null && child.signalCode === null) await once(child, "exit");
      await log.close();
      holder.kill("SIGKILL");
      await once(holder, "exit").catch(() => undefined);
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** The engine's containerd dies with it; where nobody collects its remains, its number still looks alive to the next engine. */
async function killContainerd(dir: string): Promise<void> {
  const file = join(dir, "exec", "containerd", "containerd.pid");
  const pid = Number(await readFile(file, "utf8").catch(() => "0"));
  try {
    if (pid > 1) process.kill(pid, "SIGKILL");
  } catch {
    // It was gone already.
  }
  await rm(file, { force: true });
}

/** The built runner in a folder of its own, with a lock of the images that the engine is given. */
async function makeProgram(root: string, env: NodeJS.ProcessEnv): Promise<string> {
  await mkdir(join(root, ".runner"), { recursive: true });
  await cp(join(ROOT, "dist"), join(root, "dist"), { recursive: true });
  await cp(join(ROOT, "package.json"), join(root, "package.json"));
  await symlink(join(ROOT, "node_modules"), join(root, "node_modules"));
  const lock = JSON.parse(await readFile(join(ROOT, ".runner", "images.lock.json"), "utf8")) as {
    images: Record<string, { imageId: string; inputDigest: string }>;
  };
  const images = Object.fromEntries(Object.entries(lock.images).filter(([name]) => IMAGES.includes(name)));
  await writeFile(join(root, ".runner", "images.lock.json"), JSON.stringify({ ...lock, images }));
  const ids = Object.values(images).map(({ imageId }) => imageId);
  const { DOCKER_HOST: _, ...shared } = process.env;
  const pipe = `docker save ${ids.join(" ")} | DOCKER_HOST=${env.DOCKER_HOST} docker load`;
  await execa("bash", ["-o", "pipefail", "-c", pipe], { env: shared, extendEnv: false });
  // What a name leads to is looked up by the tags that building an image leaves.
  for (const [name, { imageId, inputDigest }] of Object.entries(images)) {
    for (const tag of [inputDigest.slice("sha256:".length, "sha256:".length + 16), "latest"])
      await execa("docker", ["tag", imageId, `jacobian-runner/${name}:${tag}`], { env, extendEnv: false });
  }
  return root;
}
