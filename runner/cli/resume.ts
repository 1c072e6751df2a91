import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { requireDisk } from "../docker/disk.ts";
import { ensureEngine } from "../docker/ensure-engine.ts";
import { type FoundRun, findRun } from "../study/find-run.ts";
import { makePlan } from "../study/make-plan.ts";
import { isComplete, resumeRun, writePairOf } from "../study/resume.ts";
import { cleanUpDeadRuns } from "../study/run-registry.ts";
import { loadRequestedStudy, planRequestOf } from "../study/run-request.ts";
import type { CommandIo, Run } from "./command.ts";
import { type Keepers, keepAnchors, requireKeepers } from "./keep-anchors.ts";
import type { OPTIONS } from "./options.ts";
import { printRuns, sayAnchor, sayHowToContinue } from "./print-runs.ts";

export const run: Run<typeof OPTIONS.resume> = async (options, [folder = ""], io) => {
  await using found = await findRun(resolve(io.cwd, folder));
  const keepers = await requireKeepers(options, found.dir, io.cwd);
  if (isComplete(found)) return nothingMissing(found, keepers, options.json, io);
  const { projectRoot, env, signal } = io;
  for (const { condition, due, openings } of found.sides) {
    const again = due.filter(({ attempt }) => attempt > 1).length;
    io.say(
      `${condition}: ${due.length} ${due.length === 1 ? "attempt" : "attempts"} to make, ${again} of them for trials that had one${openings === null ? "; it had not been opened" : ""}`,
    );
  }
  const request = found.openings.opening.request;
  const study = await loadRequestedStudy(request, options.study === undefined ? null : resolve(io.cwd, options.study));
  await using engine = await ensureEngine({ fix: false, report: io.say, signal, env });
  await requireDisk(engine);
  await cleanUpDeadRuns(engine, projectRoot, io.say, signal);
  const prepared = await makePlan({
    ...planRequestOf(request, study, { engine, projectRoot, env, build: true, report: io.say, signal }),
    planned: found.plan,
  });
  const concurrency = options.concurrency ?? availableParallelism();
  const runs = await resumeRun(
    { engine, study, prepared, request, projectRoot, env, signal, concurrency, report: io.say },
    found,
  ).catch((thrown: unknown) => sayHowToContinue(thrown, found.dir, io));
  printRuns(found.plan, runs, options.json, io);
  // A resume that was killed may have sealed a side and kept nothing of it.
  const standing = sealedSides(found).filter(({ condition }) => runs.every((each) => each.condition !== condition));
  await keepAnchors([...runs, ...standing], keepers, io);
  return runs.every(({ rows }) => rows.every(({ outcome }) => outcome === "scored")) && untouchedScored(found) ? 0 : 1;
};

/** Says that nothing is missing, and puts right what a run that ended between its reports and its last files left out. */
async function nothingMissing(found: FoundRun, keepers: Keepers, json: boolean, io: CommandIo): Promise<number> {
  if (found.openings.opening.order === "interleaved") await writePairOf(found, []);
  const runs = sealedSides(found);
  if (json) {
    const results = runs.map(({ dir, condition, anchor, supersedes, report }) => ({
      dir,
      condition,
      report_sha256: anchor,
      supersedes,
      outcomes: report.outcomes,
    }));
    io.out(`${JSON.stringify({ nothingMissing: true, runs: results })}\n`);
  } else io.out(`nothing is missing in ${found.dir}: every planned trial is sealed, and none is to be tried again\n`);
  for (const each of runs) sayAnchor(each, io);
  await keepAnchors(runs, keepers, io);
  return untouchedScored(found) ? 0 : 1;
}

/** What the reports that lie there say of their runs. */
function sealedSides({ sides }: FoundRun) {
  return sides.flatMap(({ dir, condition, report }) =>
    report === null
      ? []
      : [
          {
            dir,
            condition,
            anchor: report.anchor,
            report: report.document,
            supersedes: report.document.earlier?.at(-1)?.digest ?? null,
          },
        ],
  );
}

/** The sides that a resume leaves as they are, all of whose trials are scored. */
function untouchedScored({ sides }: FoundRun): boolean {
  return sides
    .filter(({ due, sealed }) => due.length === 0 && sealed)
    .every(({ report }) =>
      Object.entries(report?.document.outcomes ?? {}).every(([name, n]) => name === "scored" || n === 0),
    );
}
