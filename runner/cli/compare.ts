import { resolve } from "node:path";
import { writeDurably } from "../base/durable.ts";
import { RunnerError } from "../base/errors.ts";
import { compareBundles, comparisonBytes } from "../study/compare.ts";
import { comparisonText } from "../study/compare-text.ts";
import type { Run } from "./command.ts";
import type { OPTIONS } from "./options.ts";

const VERDICTS = ["better", "worse", "indecisive", "invalid"] as const;

export const run: Run<typeof OPTIONS.compare> = async (options, [first = "", second], io) => {
  const failing = failOn(options.failOn);
  const at = (path: string): string => resolve(io.cwd, path);
  const comparison = await compareBundles(
    {
      folders: second === undefined ? [at(first)] : [at(first), at(second)],
      anchors: { control: options.controlReportSha256, treatment: options.treatmentReportSha256 },
    },
    io.signal,
  );
  const bytes = comparisonBytes(comparison);
  if (options.out !== undefined) await writeDurably(at(options.out), bytes);
  io.out(options.json ? `${bytes.toString("utf8")}\n` : comparisonText(comparison));
  if (!comparison.valid) return 1;
  if (!failing.has(comparison.verdict)) return 0;
  io.say(`runner: the verdict is ${comparison.verdict}, and --fail-on ${[...failing].join(",")} makes that a failure`);
  return 1;
};

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
