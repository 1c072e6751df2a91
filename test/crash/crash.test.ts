import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type CrashWorld,
  finishAndCheck,
  harmAfter,
  instants,
  killHard,
  makeCrashWorld,
  runWhole,
} from "../support/crash.ts";
import { scratch } from "../support/e2e.ts";
import { type OwnEngine, startOwnEngine } from "../support/own-engine.ts";

/** `CRASH_INSTANTS=8,2` takes fewer, for a look at one change. */
const [RUNNER_KILLS = 40, ENGINE_KILLS = 5] = process.env.CRASH_INSTANTS?.split(",").map(Number) ?? [];

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
    for (const [index, instant] of instants(count, duration).entries()) {
      const out = join(world.dir, `killed-${index}`);
      await harmAfter(world, out, instant, killHard);
      // Whoever resumes can be killed as well.
      const again = index % 8 === 5 ? duration / 2 : null;
      const found = await finishAndCheck(world, out, whole, again);
      problems.push(...found.map((problem) => `killed after ${instant} of ${Math.round(duration)} ms: ${problem}`));
      report(`${agent}: killed after ${instant} of ${Math.round(duration)} ms`, found);
    }
    expect(problems).toEqual([]);
  },
  3_600_000,
);

test(`after kill -9 of the engine at ${ENGINE_KILLS} instants spread over a run, the resumed run is the uninterrupted one`, async () => {
  await using engine: OwnEngine = await startOwnEngine(join(dir, "engine"));
  const world: CrashWorld = await makeCrashWorld(join(dir, "engine-world"), "model", engine.options);
  const whole = join(world.dir, "whole");
  const duration = await runWhole(world, whole);
  const problems: string[] = [];
  for (const [index, instant] of instants(ENGINE_KILLS, duration).entries()) {
    const out = join(world.dir, `killed-${index}`);
    await harmAfter(world, out, instant, () => engine.killAndRestart());
    const found = await finishAndCheck(world, out, whole);
    problems.push(...found.map((problem) => `killed after ${instant} of ${Math.round(duration)} ms: ${problem}`));
    report(`engine killed after ${instant} of ${Math.round(duration)} ms`, found);
  }
  expect(problems).toEqual([]);
}, 3_600_000);
