import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isAlive, ownerLabels, ownerOf, parseStat, thisOwner } from "../../../runner/docker/ownership.ts";

test("labels name their owner, and only a complete set does", async () => {
  const owner = await thisOwner();
  const labels = ownerLabels(owner, { run: "r1", trial: "t1", role: "agent" });
  expect(labels).toEqual({
    "dev.jacobian-runner.project": "jacobian-runner",
    "dev.jacobian-runner.run": "r1",
    "dev.jacobian-runner.trial": "t1",
    "dev.jacobian-runner.role": "agent",
    "dev.jacobian-runner.machine": owner.machine,
    "dev.jacobian-runner.boot": (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim(),
    "dev.jacobian-runner.pid": String(process.pid),
    "dev.jacobian-runner.started": owner.started,
  });
  expect(ownerOf(labels)).toEqual(owner);
  for (const name of ["project", "machine", "boot", "pid", "started"]) {
    expect(ownerOf({ ...labels, [`dev.jacobian-runner.${name}`]: "" })).toBeUndefined();
  }
  expect(ownerOf({ ...labels, "dev.jacobian-runner.pid": "1; rm" })).toBeUndefined();
  expect(ownerOf(null)).toBeUndefined();
});

test("this process is alive, and one with its number that started at another time is not", async () => {
  const here = await thisOwner();
  expect(await isAlive(here, here)).toBe(true);
  expect(await isAlive({ ...here, started: String(Number(here.started) + 1) }, here)).toBe(false);
});

test("an owner of an earlier boot is dead, and one on another machine always counts as alive", async () => {
  const here = await thisOwner();
  expect(await isAlive({ ...here, boot: "another" }, here)).toBe(false);
  expect(await isAlive({ ...here, boot: "another", machine: "elsewhere", pid: 2 ** 30 }, here)).toBe(true);
});

test("an owner that was killed is dead, also while nobody has collected it", async () => {
  const here = await thisOwner();
  // The shell's child ends at once and stays a zombie, because the shell became a program that never waits.
  const shell = spawn("sh", ["-c", "sh -c 'echo $$; exec cat /proc/$$/stat' & exec sleep 60"]);
  try {
    const [output] = await once(shell.stdout, "data");
    const text = String(output);
    const pid = Number(text.split("\n")[0]);
    const stat =
      parseStat(text.slice(text.indexOf("\n") + 1)) ?? parseStat(String((await once(shell.stdout, "data"))[0]));
    const owner = { ...here, pid, started: stat?.started ?? "" };
    const state = async () => (await readFile(`/proc/${pid}/stat`, "latin1")).split(") ")[1]?.[0];
    while ((await state()) !== "Z") await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await isAlive(owner, here)).toBe(false);
  } finally {
    shell.kill("SIGKILL");
    await once(shell, "exit");
  }
});

test("a process's start time is found behind any command name", () => {
  fc.assert(
    fc.property(fc.string(), fc.constantFrom("S", "R", "D", "Z", "X"), fc.nat(), (name, state, started) => {
      const line = `7 (${name}) ${state} ${Array(18).fill("1").join(" ")} ${started} 99 98\n`;
      expect(parseStat(line)).toEqual({ started: String(started), dead: state === "Z" || state === "X" });
    }),
  );
});
