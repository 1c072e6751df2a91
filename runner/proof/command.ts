import { systemClock } from "../base/clock.ts";
import type { Digest } from "../base/digest.ts";
import { anchorLines } from "../evidence/anchor.ts";
import { buildRequest } from "./build-request.ts";
import { digits, interval, titleOf } from "./export-markdown.ts";
import { DEFAULTS, type ProofOptions } from "./options.ts";
import { type EvaluatorSource, evaluatorSource, projectRoot } from "./project.ts";
import { FILES, type PreparedRun, prepareRun } from "./request.ts";
import { executeRun, type RunResult } from "./run.ts";
import { scoreRows } from "./score-rows.ts";
import type { Task } from "./terms.ts";

/** The world of a command: a part of what the command line hands to every command. */
export interface ProofIo {
  /** Data, for programs: stdout. */
  readonly out: (text: string) => void;
  /** Words, for people: stderr. */
  readonly say: (line: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly signal: AbortSignal;
  readonly interactive: boolean;
}

/** Parts of the world that tests replace. */
export interface ProofOverrides {
  readonly source?: EvaluatorSource;
  readonly root?: string;
  readonly firstWaitMs?: number;
  readonly graceMs?: number;
  readonly uniform?: () => number;
}

/** Runs `runner prover` or `runner verifier`. @returns 0; what stops a run is thrown. */
export async function runProofCommand(
  task: Task,
  options: ProofOptions,
  io: ProofIo,
  overrides: ProofOverrides = {},
): Promise<number> {
  const root = overrides.root ?? projectRoot();
  const request = buildRequest(task, options, { cwd: io.cwd, root, now: systemClock.wall() });
  const source = overrides.source ?? (await evaluatorSource(root));
  const run = await prepareRun(request, source);
  if (options.dryRun === true) {
    await run.cassette?.[Symbol.asyncDispose]();
    const { budget, manifest } = run;
    io.out(
      `${JSON.stringify({ dry_run: true, task, budget, settings: manifest.settings, run_id: manifest.run_id }, null, 2)}\n`,
    );
    return 0;
  }
  if (run.modelSource === "scripted")
    io.say("The replies are scripted: no model is called, and no score is any model's achievement.");
  if (options.output === undefined) {
    io.say(`Output: ${request.output}; to go on after an interruption, give it with --output and --resume.`);
  }
  const result = await executeRun(run, {
    env: io.env,
    signal: io.signal,
    say: io.say,
    interactive: io.interactive,
    source,
    wall: systemClock.wall,
    uniform: overrides.uniform ?? Math.random,
    firstWaitMs: overrides.firstWaitMs ?? DEFAULTS.firstWaitMs,
    graceMs: overrides.graceMs ?? DEFAULTS.graceMs,
  });
  report(run, result, options.json === true, io);
  return 0;
}

function report(run: PreparedRun, result: RunResult, json: boolean, io: ProofIo): void {
  const { output, task } = run.request;
  const anchor: Digest = result.sealed.anchor;
  if (json) {
    const { summary, calls, made, found } = result;
    const document = {
      task,
      output,
      modelSource: run.modelSource,
      summary,
      calls,
      callsMade: made,
      callsFound: found,
      reportSha256: anchor,
    };
    io.out(`${JSON.stringify(document, null, 2)}\n`);
  } else {
    io.out(headline(run, result));
  }
  if (result.forms.length > 0) io.say(`Results: ${output}/${FILES.exports} (${result.forms.join(", ")})`);
  if (json) for (const line of anchorLines(output, anchor)) io.say(line);
  else io.out(`${anchorLines(output, anchor).join("\n")}\n`);
}

function headline(run: PreparedRun, { summary, made, found }: RunResult): string {
  const names = [
    "pessimistic",
    "pass_any_sample",
    "rough_tpr",
    "rough_tnr",
    "rough_bal_f1",
    "meta_ver_bal_f1",
    "verifier_valid_rate",
  ];
  const rows = scoreRows(summary).filter(({ group, score }) => group === "metric" && names.includes(score));
  const lines = rows.map((row) =>
    [
      row.split.padEnd(4),
      row.score.padEnd(20),
      digits(row.value),
      `  95 % ${interval(row.percentile_low, row.percentile_high)}`,
    ].join(" "),
  );
  const title = `${titleOf(run.request.task)} · ${run.rows.length} rows · replies ${run.modelSource} · ${made} calls made, ${found} found`;
  return `${[title, ...lines, "Judgments are fallible and no certificates."].join("\n")}\n`;
}
