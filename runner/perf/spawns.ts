import type { spawn } from "node:child_process";
import { systemClock } from "../base/clock.ts";
import { type SeriesSummary, summariseSeries } from "./samples.ts";

/** Times whole processes from start to exit, one after the other. */
export async function measureSpawns(
  start: typeof spawn,
  program: string,
  args: readonly string[],
  times: number,
): Promise<SeriesSummary> {
  const micros: number[] = [];
  for (let index = 0; index < times; index += 1) {
    const from = systemClock.micros();
    await new Promise<void>((resolve, reject) => {
      const child = start(program, [...args], { stdio: "ignore" });
      child.once("error", reject);
      child.once("exit", () => resolve());
    });
    micros.push(systemClock.micros() - from);
  }
  return summariseSeries({ name: args.join(" "), micros });
}
