import { join, resolve } from "node:path";
import { writeDurably } from "../base/durable.ts";
import { RunnerError } from "../base/errors.ts";
import { requireOutsideBundles } from "../evidence/outside-bundle.ts";
import { type CompareRequest, compareBundles, comparisonBytes } from "../study/compare.ts";
import { comparisonText } from "../study/compare-text.ts";
import type { Condition } from "../study/order.ts";
import { lookUpAnchor } from "../study/report-ledger.ts";
import type { CommandIo, Run } from "./command.ts";
import { examineProgram } from "./examine-program.ts";
import type { OPTIONS } from "./options.ts";

const VERDICTS = ["better", "worse", "indecisive", "invalid"] as const;

export const run: Run<typeof OPTIONS.compare> = async (options, [first = "", second], io) => {
  const failing = failOn(options.failOn);
  const at = (path: string): string => resolve(io.cwd, path);
  const folders = second === undefined ? ([at(first)] as const) : ([at(first), at(second)] as const);
  const given = { control: options.controlReportSha256, treatment: options.treatmentReportSha256 };
  const anchors = options.ledger === undefined ? given : await fill(given, folders, at(options.ledger), io);
  const out = options.out === undefined ? null : await requireOutsideBundles(at(options.out), "the comparison");
  const comparison = await compareBundles({ folders, anchors }, io.signal, examineProgram(io));
  // A file of thousands of pairs is not made for nothing.
  const bytes = out !== null || options.json ? comparisonBytes(comparison) : null;
  if (out !== null && bytes !== null) await writeDurably(out, bytes);
  io.out(options.json && bytes !== null ? `${bytes.toString("utf8")}\n` : comparisonText(comparison));
  if (!comparison.valid) return 1;
  if (!failing.has(comparison.verdict)) return 0;
  io.say(`runner: the verdict is ${comparison.verdict}, and --fail-on ${[...failing].join(",")} makes that a failure`);
  return 1;
};

/** Takes anchors from the operator's ledger that were not given; one that it does not have stays missing, which refuses the comparison. */
async function fill(
  given: CompareRequest["anchors"],
  folders: CompareRequest["folders"],
  ledger: string,
  io: Pick<CommandIo, "say">,
): Promise<CompareRequest["anchors"]> {
  const find = async (side: Condition): Promise<string | undefined> => {
    const [first, second] = folders;
    const dir = second === undefined ? join(first, side) : side === "control" ? first : second;
    try {
      return given[side] ?? (await lookUpAnchor(dir, ledger));
    } catch (thrown) {
      if (!(thrown instanceof RunnerError) || !NOT_FOUND.includes(thrown.code)) throw thrown;
      io.say(`${side}: ${thrown.message}`);
      return undefined;
    }
  };
  return { control: await find("control"), treatment: await find("treatment") };
}

const NOT_FOUND = ["ANCHOR_UNKNOWN", "REPORT_MISSING", "NOT_A_RUN"];

function failOn(text: string | undefined): ReadonlySet<string> {
  const named = text === undefined ? [] : text.split(",");
  for (const verdict of named) {
    if (!VERDICTS.some((known) => known === verdict)) {
      throw new RunnerError("usage", "USAGE", `--fail-on names ${JSON.stringify(verdict)}, which is no verdict`, {
        hint: `Name some of ${VERDICTS.join(", ")}, with commas between them.`,
      });
    }
  }
  return new Set(named);
}
