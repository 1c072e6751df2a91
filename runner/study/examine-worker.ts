import { parentPort, workerData } from "node:worker_threads";
import { blockingStore } from "../evidence/blocking-store.ts";
import { type ExaminedRun, openExaminer, type TrialToExamine } from "./examine-trial.ts";

/** What a worker that examines trials is started with. */
export interface ExamineJob {
  readonly dir: string;
  readonly run: ExaminedRun | null;
}

// The entry of a worker: answers a batch of trials with what was found of each, in their order.
const { dir, run } = workerData as ExamineJob;
const examine = openExaminer(blockingStore(dir), run);
parentPort?.on("message", async (batch: readonly TrialToExamine[]) => {
  const found = [];
  for (const trial of batch) found.push(await examine(trial));
  parentPort?.postMessage(found);
});
