import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type CrashWorld,
  describe,
  finishAndCheck,
  harmAfter,
  instants,
  interrupt,
  killHard,
  makeCrashWorld,
  openingInstants,
  runWhole,
} from "../support/crash.ts";
import { scratch } from "../support/e2e.ts";
import { type OwnEngine, startOwnEngine } from "../support/own-engine.ts";

/** `CRASH_INSTANTS=8,2,2` takes fewer, for a look at one change. */
const [RUNNER_KILLS = 40, ENGINE_KILLS = 5, INTERRUPTS = 4] = process.env.CRASH_INSTANTS?.split(",").map(Number) ?? [];
/** About what the trials of a model take. */
const TRIALS_MS = 3000;
/** The share of the kills that fall into the opening of the bundles. */
const OPENING_SHARE = 1 / 4;

/** Says what each instant came to when it came to it: the whole takes long. */
function report(what: string, problems: readonly string[]): void {
  process.stderr.write(
    `${[`${what}: ${problems.length === 0 ? "ok" : "NOT as unharmed"}`, ...problems].join("\n  ")}\n`,
  );
}

let dir: string;
let remove: () => Promise<void>;
beforeAll(async () => {
  ({ dir, remove } = await scratch());
});
afterAll(() => remove());

test.each([
  ["command", Math.ceil(RUNNER_KILLS / 2)],
  ["model", Math.floor(RUNNER_KILLS / 2)],
] as const)(
  "after kill -9 of the runner at instants spread over a run (agent: %s, %i instants), the resumed run is the uninterrupted one",
  async (agent, count) => {
    const world = await makeCrashWorld(join(dir, agent), agent);
    const whole = join(world.dir, "whole");
    const duration = await runWhole(world, whole);
    const problems: string[] = [];
    const early = Math.ceil(count * OPENING_SHARE);
    const all = [...openingInstants(early), ...instants(count - early, duration)];
    for (const [index, instant] of all.entries()) {
      const out = join(world.dir, `killed-${index}`);
      const state = await harmAfter(world, out, instant, killHard);
      // Whoever resumes can be killed as well.
      const again = index % 8 === 5 ? duration / 2 : null;
      const found = await finishAndCheck(world, out, whole, again);
      const when = `${agent}: killed ${describe(instant)}, of ${Math.round(duration)} ms (${state})`;
      problems.push(...found.map((problem) => `${when}: ${problem}`));
      report(when, found);
    }
    expect(problems).toEqual([]);
  },
  3_600_000,
);

test(`after Ctrl-C at ${INTERRUPTS} instants, the resumed run is the uninterrupted one`, async () => {
  const world = await makeCrashWorld(join(dir, "interrupted"), "model");
  const whole = join(world.dir, "whole");
  await runWhole(world, whole);
  const problems: string[] = [];
  // Before its folder is there, it has begun nothing that could be interrupted.
  for (const [index, { milliseconds }] of instants(INTERRUPTS, TRIALS_MS).entries()) {
    const instant = { after: "folder", milliseconds } as const;
    const out = join(world.dir, `interrupted-${index}`);
    const state = await harmAfter(world, out, instant, interrupt);
    const found = await finishAndCheck(world, out, whole);
    const when = `interrupted ${describe(instant)} (${state})`;
    problems.push(...found.map((problem) => `${when}: ${problem}`));
    report(when, found);
  }
  expect(problems).toEqual([]);
}, 3_600_000);

test(`after kill -9 of the engine at ${ENGINE_KILLS} instants spread over a run, the resumed run is the uninterrupted one`, async () => {
  await using engine: OwnEngine = await startOwnEngine(join(dir, "engine"));
  const world: CrashWorld = await makeCrashWorld(join(dir, "engine-world"), "model", engine.options);
  const whole = join(world.dir, "whole");
  const duration = await runWhole(world, whole);
  const problems: string[] = [];
  for (const [index, instant] of instants(ENGINE_KILLS, duration).entries()) {
    const out = join(world.dir, `killed-${index}`);
    const state = await harmAfter(world, out, instant, () => engine.killAndRestart());
    const found = await finishAndCheck(world, out, whole);
    const when = `engine killed ${describe(instant)}, of ${Math.round(duration)} ms (${state})`;
    problems.push(...found.map((problem) => `${when}: ${problem}`));
    report(when, found);
  }
  expect(problems).toEqual([]);
}, 3_600_000);
