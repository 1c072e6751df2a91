import { availableParallelism } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { runCalibration } from "../perf/calibration.ts";
import { cellLines, renderCalibration } from "../perf/calibration-report.ts";
import type { Run } from "./command.ts";
import type { OPTIONS } from "./options.ts";

export const run: Run<typeof OPTIONS.benchCalibration> = async (
  { size, simulations, cells, json },
  _positionals,
  io,
) => {
  const result = await runCalibration(
    {
      size: (size ?? "small") as "small" | "whole" | "held-out",
      ...(simulations === undefined ? {} : { simulations }),
      workers: {
        url: pathToFileURL(join(io.projectRoot, "dist", "calibration-worker.mjs")),
        count: availableParallelism(),
      },
      signal: io.signal,
    },
    ({ done, total }) => {
      if (done % 50 === 0 || done === total) io.say(`${done} of ${total} cells`);
    },
  );
  if (json) io.out(`${JSON.stringify(result)}\n`);
  else {
    if (cells) io.out(`${cellLines(result.cells)}\n`);
    io.out(`${renderCalibration(result)}\n`);
  }
  return result.verdict.passed ? 0 : 1;
};
