import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { z } from "zod";
import { findAgent } from "../agent/registry.ts";
import { systemClock } from "../base/clock.ts";
import { RunnerError } from "../base/errors.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import { ensureEngine } from "../docker/ensure-engine.ts";
import { BUNDLE } from "../evidence/bundle.ts";
import { objectRefSchema } from "../evidence/object-ref.ts";
import { readableStore } from "../evidence/store.ts";
import { bareFirstRequest } from "../perf/bare-first-request.ts";
import { firstRequestWall, requireMoment } from "../perf/first-request.ts";
import { summariseSeries } from "../perf/samples.ts";
import { makePlan } from "../study/make-plan.ts";
import { CONDITIONS } from "../study/order.ts";
import { overrideStudy } from "../study/override-study.ts";
import { loadStudy } from "../study/study-file.ts";
import { planTrialSpecs } from "../study/trial-specs.ts";
import { readTrace } from "../trace/read-trace.ts";
import { newRunId, openWorld } from "../trial/open-world.ts";
import { trialRecordSchema } from "../trial/record.ts";
import type { Run } from "./command.ts";
import { DEMO_STUDY } from "./demo-study.ts";
import type { OPTIONS } from "./options.ts";

/** The task that every figure is measured on: small, no network. */
const TASK = "parity-sum-01";
const MODEL = "scripted";
/** What a start may cost over the bare engine calls. */
const BAR_MILLIS = 1500;

export const run: Run<typeof OPTIONS.benchAgent> = async (options, _positionals, io) => {
  const { say, signal, env, projectRoot } = io;
  const name = options.agent ?? "codex";
  if (typeof findAgent(name) === "string")
    throw new RunnerError("usage", "BENCH_AGENT", `agent ${name} asks no model, so it has no first request`);
  const trials = options.trials ?? 5;
  const study = overrideStudy(await loadStudy(join(projectRoot, DEMO_STUDY)), {
    agent: name,
    model: MODEL,
    reasoningEffort: null,
  });
  const folder = await mkdtemp(join(tmpdir(), "runner-bench-agent-"));
  try {
    const replay = join(folder, "cassettes");
    await mkdir(replay);
    await writeFile(join(replay, "done.json"), JSON.stringify(CASSETTE));
    await using engine = await ensureEngine({ fix: false, report: say, signal, env });
    const images = { projectRoot, maps: [], buildNetwork: "default" as const, env };
    const prepared = await makePlan({
      ...{
        engine,
        study,
        tasks: [TASK],
        repetitions: 1,
        replay,
        images,
        cwd: io.cwd,
        build: true,
        report: say,
        signal,
      },
    });
    const specs = await planTrialSpecs({ engine, study, prepared, env, report: say, signal });
    await using world = await openWorld({ engine, runId: newRunId(systemClock), images: prepared.own.ids, signal });
    const figures = [];
    for (const condition of CONDITIONS) {
      const spec = specs.find((each) => each.condition === condition);
      if (spec === undefined) throw new Error(`the plan has no trial in ${condition}`);
      const micros: { execute: number[]; bare: number[] } = { execute: [], bare: [] };
      for (let turn = 1; turn <= trials; turn += 1) {
        say(`${condition}: ${turn} of ${trials}`);
        const out = join(folder, `${condition}-${turn}`);
        micros.bare.push(await bareFirstRequest(world, spec, signal));
        micros.execute.push(await executed(projectRoot, { name, condition, replay, out }, signal));
      }
      const execute = summariseSeries({ name: "execute", micros: micros.execute });
      const bare = summariseSeries({ name: "bare", micros: micros.bare });
      const overMillis = execute.warm.medianMillis - bare.warm.medianMillis;
      figures.push({ condition, execute, bare, overMillis });
      if (!options.json) {
        io.out(
          `${name}, ${condition}, to the first model request: execute ${execute.warm.medianMillis.toFixed(0)} ms, bare ${bare.warm.medianMillis.toFixed(0)} ms (medians of ${bare.warm.n}); over ${overMillis.toFixed(0)} ms (bar ${BAR_MILLIS})\n`,
        );
      }
    }
    if (options.json) io.out(`${JSON.stringify({ agent: name, task: TASK, barMillis: BAR_MILLIS, figures })}\n`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return 0;
};

/** The model says at once that it is done, also to an agent that asks again or begins with words of the model's. */
const CASSETTE = {
  schemaVersion: "1",
  modelSource: "scripted",
  conversations: [
    {
      scope: { task: TASK, condition: "any" },
      exchanges: [1, 2, 3].map((turn) => ({
        match: { turn },
        reply: { text: "Done.", usage: { input: 10, output: 1 } },
      })),
    },
  ],
};

/** Runs `execute` as a user would and gives the microseconds from its start to the first model request. */
async function executed(
  projectRoot: string,
  { name, condition, replay, out }: Readonly<Record<"name" | "condition" | "replay" | "out", string>>,
  signal: AbortSignal,
): Promise<number> {
  const words = ["execute", "--agent", name, "--model", MODEL, "--replay", replay, "--tasks", TASK];
  const from = Date.now();
  await execa(
    process.execPath,
    [
      join(projectRoot, "bin", "runner.js"),
      ...words,
      "--repetitions",
      "1",
      "--condition",
      condition,
      "--out",
      out,
      "--execute",
    ],
    { stdio: "ignore", cancelSignal: signal },
  );
  const source = join(out, BUNDLE.report);
  const report = parseInput(
    z.looseObject({ trials: z.array(z.looseObject({ record: objectRefSchema })).min(1) }),
    parseStrictJson(await readFile(source), { source }),
    source,
  );
  const store = readableStore(out);
  const [first] = report.trials;
  if (first === undefined) throw new Error("the run has no trial");
  const place = "the trial's record";
  const record = parseInput(
    trialRecordSchema,
    parseStrictJson(await store.readAll(first.record), { source: place }),
    place,
  );
  if (record.gateway === null) throw new Error(`the trial left no trace: ${record.cause?.detail}`);
  const trace = readTrace(await store.readAll(record.gateway.trace), "the trial's trace");
  return (requireMoment(firstRequestWall(trace)) - from) * 1000;
}
