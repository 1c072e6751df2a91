import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runModule } from "../../support/docker-child.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "ensure-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** A machine as seen by one process tree: no engine, no network but its own, nothing of what it starts survives. */
function bareMachine(prepare: string): string[] {
  const hide =
    "mount -t tmpfs none /run && mount -t tmpfs none /var/lib/docker && mount -t tmpfs none /var/log && ip link set lo up";
  const script = `${hide} && ${prepare} && exec "$@"`;
  return ["unshare", "--mount", "--net", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", script, "sh"];
}

const ENSURE = `
  import { ensureEngine } from "./runner/docker/ensure-engine.ts";
  const report = (line) => console.log("> " + line);
  try {
    for (const fix of [true, false]) {
      const engine = await ensureEngine({ fix, report, env: { PATH: process.env.PATH } });
      console.log("driver", engine.facts.os, engine.facts.cpus > 0, engine.facts.dataRoot);
      await engine[Symbol.asyncDispose]();
    }
  } catch (thrown) {
    console.log(thrown.code, thrown.message);
  }
  process.exit();
`;

test("where no engine answers one is started and outlives the call, and the next call finds it", async () => {
  await using child = await runModule(ENSURE, { wrapper: bareMachine("true") });
  const { stdout, stderr } = await child.result;
  expect({ lines: stdout.trimEnd().split("\n"), stderr }).toEqual({
    lines: [
      "> no Docker engine: there is no socket /var/run/docker.sock",
      "> starting Docker: dockerd, its output in /var/log/jacobian-runner-dockerd.log",
      expect.stringMatching(/^> Docker \d+\.\d+\.\d+\S* answers \(API 1\.4\d\)$/),
      "driver linux true /var/lib/docker",
      "driver linux true /var/lib/docker",
    ],
    stderr: "",
  });
});

test("a daemon that dies at its start is reported with the end of its log", async () => {
  await writeFile(join(folder, "dockerd"), "#!/bin/sh\necho 'failed to mount cgroup: no such device' >&2\nexit 1\n");
  await chmod(join(folder, "dockerd"), 0o755);
  await using child = await runModule(ENSURE, {
    wrapper: bareMachine("true"),
    env: { ...process.env, PATH: `${folder}:${process.env.PATH}` },
  });
  const { stdout } = await child.result;
  expect(stdout.trimEnd().split("\n").slice(2)).toEqual([
    "DOCKER_START Docker could not be started: dockerd ended with exit code 1",
    "failed to mount cgroup: no such device",
  ]);
});

test("a user who is not root is told so, and nothing is installed or started", async () => {
  const asNobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
  await using child = await runModule(ENSURE, { wrapper: [...bareMachine("true"), ...asNobody] });
  expect((await child.result).stdout.trimEnd().split("\n")).toEqual([
    "> no Docker engine: there is no socket /var/run/docker.sock",
    "DOCKER_FIX_ROOT installing and starting Docker needs root",
  ]);
});

const INSTALL = `
  import { installEngine } from "./runner/docker/install-engine.ts";
  try {
    await installEngine({ report: (line) => console.log("> " + line) });
    console.log("installed");
  } catch (thrown) {
    console.log(thrown.code, thrown.message);
  }
`;

/** Puts a stand-in over apt-get, which notes its arguments. */
async function fakeAptGet(body: string): Promise<string[]> {
  const fake = join(folder, "apt-get");
  await writeFile(fake, `#!/bin/sh\necho "$*" >> ${folder}/calls\n${body}\n`);
  await chmod(fake, 0o755);
  return ["unshare", "--mount", "sh", "-c", `mount --bind ${fake} /usr/bin/apt-get && exec "$@"`, "sh"];
}

test("packages are looked up again when they cannot be installed at once", async () => {
  const wrapper = await fakeAptGet(`[ "$1" = update ] && touch ${folder}/updated; [ -e ${folder}/updated ]`);
  await using child = await runModule(INSTALL, { wrapper });
  expect((await child.result).stdout.trimEnd().split("\n")).toEqual([
    "> installing Docker: apt-get install -y --no-install-recommends docker.io iptables",
    "> apt-get update, then once more",
    "installed",
  ]);
  expect(await readFile(join(folder, "calls"), "utf8")).toBe(
    "install -y --no-install-recommends docker.io iptables\nupdate\ninstall -y --no-install-recommends docker.io iptables\n",
  );
});

test("an installation that fails is one error with the last words of apt-get", async () => {
  const wrapper = await fakeAptGet('echo "E: no mirror for $1" >&2; exit 100');
  await using child = await runModule(INSTALL, { wrapper });
  expect((await child.result).stdout.trimEnd().split("\n").slice(2)).toEqual([
    "DOCKER_INSTALL apt-get could not install docker.io iptables:",
    "E: no mirror for update",
    "E: no mirror for install",
  ]);
});
