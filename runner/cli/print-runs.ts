import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { Digest } from "../base/digest.ts";
import { anchorLines } from "../evidence/anchor.ts";
import { BUNDLE } from "../evidence/bundle.ts";
import { planDigest } from "../study/make-plan.ts";
import { CONDITIONS } from "../study/order.ts";
import { outcomeTable } from "../study/outcome-table.ts";
import type { Plan } from "../study/plan.ts";
import type { SealedRun } from "../study/seal-run.ts";
import type { CommandIo } from "./command.ts";

/** Prints what runs came to, and hands over their anchors. */
export function printRuns(
  plan: Plan,
  runs: readonly (SealedRun & { readonly supersedes: Digest | null })[],
  json: boolean,
  io: Pick<CommandIo, "out" | "say">,
): void {
  if (json) {
    const results = runs.map(({ dir, condition, anchor, supersedes, report, rows }) => ({
      dir,
      condition,
      report_sha256: anchor,
      supersedes,
      outcomes: report.outcomes,
      rows,
    }));
    io.out(`${JSON.stringify({ planDigest: planDigest(plan), runs: results })}\n`);
  } else {
    const rows = runs.flatMap((each) => each.rows);
    io.out(outcomeTable(plan, rows));
  }
  for (const each of runs) sayAnchor(each, io);
}

/** Hands over a bundle's anchor, beside the one that it supersedes. */
export function sayAnchor(
  {
    dir,
    condition,
    anchor,
    supersedes,
  }: Pick<SealedRun, "dir" | "condition" | "anchor"> & {
    readonly supersedes: Digest | null;
  },
  io: Pick<CommandIo, "say">,
): void {
  for (const line of anchorLines(`${condition} in ${dir}`, anchor)) io.say(line);
  if (supersedes !== null) io.say(`superseded ${supersedes} ${condition}: that anchor no longer fits the bundle`);
}

/** Says how an interrupted run is continued, where it was begun, and throws on. */
export async function sayHowToContinue(thrown: unknown, out: string, io: Pick<CommandIo, "say">): Promise<never> {
  const folders = [out, ...CONDITIONS.map((condition) => join(out, condition))];
  const begun = await Promise.all(folders.map((dir) => lstat(join(dir, BUNDLE.ledger)).catch(() => null)));
  if (begun.some((info) => info !== null && info.size > 0))
    io.say(`what was sealed is whole; continue with \`runner resume ${out}\``);
  throw thrown;
}
