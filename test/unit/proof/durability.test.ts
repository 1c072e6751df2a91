import { spawn } from "node:child_process";
import { appendFile, mkdir, mkdtemp, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { digestBytes } from "../../../runner/base/digest.ts";
import { seededRandom, shuffled } from "../../../runner/base/random.ts";
import { thisOwner } from "../../../runner/docker/ownership.ts";
import { retryAfter } from "../../../runner/proof/backoff.ts";
import { openCallLog } from "../../../runner/proof/call-log.ts";
import { flushEach, flushFolder } from "../../../runner/proof/flush.ts";
import { makeLimiter } from "../../../runner/proof/limiter.ts";
import { recordPath } from "../../../runner/proof/request.ts";
import { startResults } from "../../../runner/proof/results-writer.ts";
import { takeLock } from "../../../runner/proof/run-lock.ts";
import { type Step, schedule, type UnitOfWork } from "../../../runner/proof/schedule.ts";
import { recordKey } from "../../../runner/proof/terms.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "proof-durable-"));
});
afterEach(async () => rm(folder, { recursive: true }));

const call = (name: string, body = `{"x":"${name}"}`) => ({
  call: name,
  request: digestBytes(name),
  outcome: { error: null, body, attempts: 1, micros: 5, redacted: false },
});

describe("the flush of a folder", () => {
  it("reaches every file in it, with the system's program and without it, and fails for a folder that is not there", async () => {
    await mkdir(join(folder, "a", "b"), { recursive: true });
    for (const name of ["one", "a/two", "a/b/three"]) await writeFile(join(folder, name), name);
    await flushFolder(folder);
    await flushEach(folder);
    await expect(flushEach(join(folder, "absent"))).rejects.toMatchObject({ code: "ENOENT" });
    vi.stubEnv("PATH", join(folder, "absent"));
    await flushFolder(folder);
    await expect(flushFolder(join(folder, "absent"))).rejects.toMatchObject({ code: "ENOENT" });
    vi.unstubAllEnvs();
    await expect(flushFolder(join(folder, "absent"))).rejects.toMatchObject({ code: "ENOENT" });
  });
});

describe("the results that are joined while records are finished", () => {
  const keys = Array.from({ length: 200 }, (_, index) => recordKey(index, 0));
  const lineOf = (key: string): string => JSON.stringify({ record_key: key, text: `é ${key}` });

  it("are in the order of the data whatever the order of the records, also when too many wait for the first one", async () => {
    await mkdir(join(folder, "records"));
    for (const key of keys)
      await writeFile(recordPath(folder, key), `${JSON.stringify(JSON.parse(lineOf(key)), null, 2)}\n`);
    const expected = keys.map((key) => `${lineOf(key)}\n`).join("");
    const orders = [keys, [...keys].reverse(), shuffled(keys, seededRandom("results"))];
    for (const order of orders) {
      using results = startResults(folder, keys);
      for (const key of order) results.add(key, lineOf(key));
      const { digest, size } = results.finish();
      const bytes = await readFile(join(folder, "results.jsonl"));
      expect(bytes.toString("utf8")).toBe(expected);
      expect({ digest, size }).toEqual({ digest: digestBytes(bytes), size: bytes.length });
    }
  });

  it("leave out records that do not exist", async () => {
    using results = startResults(folder, keys);
    for (const key of [keys[5], keys[1]]) results.add(key ?? "", lineOf(key ?? ""));
    results.finish();
    expect(await readFile(join(folder, "results.jsonl"), "utf8")).toBe(
      [keys[1], keys[5]].map((key) => `${lineOf(key ?? "")}\n`).join(""),
    );
  });
});

describe("the call log", () => {
  it("gives back what was appended, also texts with line separators, lone surrogates and a megabyte", async () => {
    const path = join(folder, "calls.jsonl");
    const calls = [
      call("a", "x\u2028\u0085\r\ny"),
      call("b", '"\\ud835"'),
      call("c", "é".repeat(500_000)),
      { ...call("d"), outcome: { error: "HTTP_500", body: null, attempts: 3, micros: 9, redacted: false } },
    ];
    {
      await using log = await openCallLog(path);
      await Promise.all(calls.map(log.append));
      expect(log.known).toBe(0);
    }
    await using again = await openCallLog(path);
    expect(again.known).toBe(4);
    expect(await Promise.all(calls.map(({ call: name }) => again.find(name)))).toEqual(calls);
    expect(await again.find("e")).toBeUndefined();
  });

  it("loses exactly the call whose line a crash cut off, wherever it was cut, and glues nothing to the rest", async () => {
    const path = join(folder, "calls.jsonl");
    {
      await using log = await openCallLog(path);
      await log.append(call("a"));
    }
    const first = (await stat(path)).size;
    {
      await using log = await openCallLog(path);
      await log.append(call("b"));
    }
    const whole = await readFile(path);
    for (let cut = first + 1; cut < whole.length; cut += 1) {
      await writeFile(path, whole);
      await truncate(path, cut);
      await using log = await openCallLog(path);
      expect([log.known, log.tornBytes]).toEqual([1, cut - first]);
      await log.append(call("b"));
      expect(await readFile(path)).toEqual(whole);
    }
  });

  it("refuses damage before its end, and a call that is there twice", async () => {
    const path = join(folder, "calls.jsonl");
    {
      await using log = await openCallLog(path);
      await log.append(call("a"));
      await log.append(call("b"));
    }
    const text = await readFile(path, "utf8");
    await writeFile(path, text.replace('\\"x\\":\\"a', '\\"x\\":\\"z'));
    await expect(openCallLog(path)).rejects.toMatchObject({
      code: "CALL_LOG_DAMAGED",
      message: `${path}, line 1: its checksum does not hold`,
    });
    await writeFile(path, text);
    await appendFile(path, `${text.split("\n")[0]}\n`);
    await expect(openCallLog(path)).rejects.toMatchObject({ message: `${path}, line 3: the call a is there twice` });
  });
});

describe("the lock", () => {
  it("refuses while its owner lives, names it, and is free again afterwards", async () => {
    const path = join(folder, "lock");
    {
      await using _lock = await takeLock(path);
      await expect(takeLock(path)).rejects.toMatchObject({
        code: "RUN_LOCKED",
        message: `the run is locked by ${path}: process ${process.pid} is running and owns it`,
      });
    }
    await using _again = await takeLock(path);
  });

  it("of a process that is dead, was replaced under its number, or ran before the last start of the machine is taken over", async () => {
    const path = join(folder, "lock");
    const own = await thisOwner();
    for (const dead of [
      { ...own, started: "1" },
      { ...own, pid: 4_194_300 },
      { ...own, boot: "another" },
    ]) {
      await writeFile(path, JSON.stringify(dead));
      await using _lock = await takeLock(path);
      expect(JSON.parse(await readFile(path, "utf8"))).toEqual(own);
    }
  });

  it("of another machine, or of nobody, is never taken over", async () => {
    const path = join(folder, "lock");
    await writeFile(path, JSON.stringify({ ...(await thisOwner()), machine: "elsewhere" }));
    await expect(takeLock(path)).rejects.toMatchObject({ code: "RUN_LOCKED" });
    await writeFile(path, "");
    await expect(takeLock(path)).rejects.toMatchObject({
      message: `the run is locked by ${path}: its content names no owner`,
    });
  });

  it("that is dead goes to exactly one of many that find it so", async () => {
    const path = join(folder, "lock");
    await writeFile(path, JSON.stringify({ ...(await thisOwner()), pid: 4_194_300 }));
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => takeLock(path)));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  it("is taken over from a process that was killed", async () => {
    const path = join(folder, "lock");
    const child = spawn("sleep", ["60"]);
    const { readFile: read } = await import("node:fs/promises");
    const fields = (await read(`/proc/${child.pid}/stat`, "utf8")).split(") ")[1]?.split(" ") ?? [];
    await writeFile(path, JSON.stringify({ ...(await thisOwner()), pid: child.pid, started: fields[19] }));
    await expect(takeLock(path)).rejects.toMatchObject({ code: "RUN_LOCKED" });
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
    await using _lock = await takeLock(path);
  });
});

describe("the limiter", () => {
  const settle = () => new Promise((resolve) => setImmediate(resolve));

  it("admits in order, those that ask again first", async () => {
    const limiter = makeLimiter(1);
    const order: string[] = [];
    const first = await limiter.acquire(false);
    for (const [name, again] of [
      ["new", false],
      ["later", false],
      ["retry", true],
    ] as const) {
      void limiter.acquire(again).then((ticket) => {
        order.push(name);
        limiter.release(ticket, "other");
      });
    }
    limiter.release(first, "other");
    await settle();
    expect(order).toEqual(["retry", "new", "later"]);
  });

  it("halves once for all refusals of one round, never below one, and grows again with successes", async () => {
    const limiter = makeLimiter(64);
    const refuse = async () => {
      const tickets = await Promise.all(Array.from({ length: limiter.limit() }, () => limiter.acquire(false)));
      for (const ticket of tickets) limiter.release(ticket, "overloaded");
      return limiter.limit();
    };
    expect([
      await refuse(),
      await refuse(),
      await refuse(),
      await refuse(),
      await refuse(),
      await refuse(),
      await refuse(),
    ]).toEqual([32, 16, 8, 4, 2, 1, 1]);
    for (let round = 0; round < 400; round += 1) limiter.release(await limiter.acquire(false), "good");
    expect(limiter.limit()).toBeGreaterThan(30);
    for (let round = 0; round < 2000; round += 1) limiter.release(await limiter.acquire(false), "good");
    expect(limiter.limit()).toBe(64);
  });

  it("starts nothing before a pause is over", async () => {
    let now = 0;
    const limiter = makeLimiter(2, () => now);
    limiter.pause(1_000_000);
    let admitted = 0;
    void limiter.acquire(false).then(
      () => (admitted += 1),
      () => undefined,
    );
    await settle();
    expect(admitted).toBe(0);
    now = 1_000_001;
    await limiter.acquire(false);
    await settle();
    expect(admitted).toBe(1);
    limiter.close(new Error("done"));
    await expect(limiter.acquire(false)).rejects.toThrow("done");
  });

  it("reads Retry-After as seconds or as a date, and ignores what it cannot read", () => {
    const now = Date.parse("2026-11-30T12:00:00Z");
    const headers = [
      "7",
      "0.5",
      "0",
      "99999",
      "Mon, 30 Nov 2026 12:00:09 GMT",
      "Mon, 30 Nov 2026 11:00:00 GMT",
      "soon",
    ];
    expect(headers.map((text) => retryAfter(text, now))).toEqual([7000, 500, 0, 600_000, 9000, 0, null]);
    expect(retryAfter(undefined, now)).toBeNull();
  });
});

describe("the schedule", () => {
  const unit = (log: string[], name: string, steps: number, fail = false): UnitOfWork => {
    const step =
      (index: number): Step =>
      async () => {
        await new Promise((resolve) => setImmediate(resolve));
        if (fail) throw new Error(`${name} failed`);
        log.push(`${name}${index}`);
        return index === 0 ? Array.from({ length: steps }, (_, next) => step(next + 1)) : [];
      };
    return { first: [step(0)], finish: async () => void log.push(`${name} done`) };
  };
  const options = (concurrency: number, signal = new AbortController().signal) => ({
    concurrency,
    released: concurrency,
    signal,
    onFailure: () => undefined,
  });

  it("finishes earlier units first and runs every follow-up after its cause", async () => {
    const log: string[] = [];
    await schedule([unit(log, "a", 2), unit(log, "b", 1)], options(1));
    expect(log).toEqual(["a0", "a1", "a2", "a done", "b0", "b1", "b done"]);
    for (const concurrency of [2, 3, 50]) {
      const many: string[] = [];
      await schedule(
        Array.from({ length: 20 }, (_, index) => unit(many, `u${index}-`, 3)),
        options(concurrency),
      );
      expect(many).toHaveLength(20 * 5);
      for (let index = 0; index < 20; index += 1) {
        const own = many.filter((entry) => entry.startsWith(`u${index}-`));
        expect([own[0], own[4]]).toEqual([`u${index}-0`, `u${index}- done`]);
      }
    }
  });

  it("stops at the first failure, starts nothing more and throws it when all is quiet", async () => {
    const log: string[] = [];
    const failures: unknown[] = [];
    const work = schedule([unit(log, "a", 1), unit(log, "b", 1, true), unit(log, "c", 1)], {
      ...options(1),
      onFailure: (thrown) => failures.push(thrown),
    });
    await expect(work).rejects.toThrow("b failed");
    expect(log).toEqual(["a0", "a1", "a done"]);
    expect(failures).toHaveLength(1);
  });

  it("gives the place of a step that has released it to the next step, once, and to no more steps than there are places", async () => {
    const log: string[] = [];
    const open = new Map<string, () => void>();
    const held = (name: string): UnitOfWork => ({
      first: [
        async (release) => {
          log.push(name);
          release();
          release();
          await new Promise<void>((resolve) => open.set(name, resolve));
          return [];
        },
      ],
      finish: async () => void log.push(`${name} done`),
    });
    const settle = () => new Promise((resolve) => setImmediate(resolve));
    const work = schedule(["a", "b", "c", "d", "e"].map(held), options(2));
    await settle();
    // Two have released their places and two hold one: the fifth waits.
    expect(log).toEqual(["a", "b", "c", "d"]);
    open.get("a")?.();
    await settle();
    expect(log).toEqual(["a", "b", "c", "d", "a done"]);
    open.get("c")?.();
    await settle();
    expect(log.slice(5).sort()).toEqual(["c done", "e"]);
    for (const resolve of open.values()) resolve();
    await work;
    expect(log).toHaveLength(10);
  });

  it("starts nothing in a place that was released after the abort", async () => {
    const controller = new AbortController();
    const log: string[] = [];
    const first: UnitOfWork = {
      first: [
        async (release) => {
          controller.abort();
          release();
          return [];
        },
      ],
      finish: async () => undefined,
    };
    await schedule([first, unit(log, "b", 1)], options(1, controller.signal));
    expect(log).toEqual([]);
  });

  it("starts nothing once it is aborted", async () => {
    const log: string[] = [];
    const controller = new AbortController();
    const stopping: UnitOfWork = {
      first: [
        async () => {
          controller.abort();
          return [];
        },
      ],
      finish: async () => undefined,
    };
    await schedule([unit(log, "a", 0), stopping, unit(log, "b", 1)], options(1, controller.signal));
    expect(log).toEqual(["a0", "a done"]);
  });
});
