import { parentPort } from "node:worker_threads";
import { isCalibrationJob, runJob } from "./calibration-job.ts";

// The entry of a calibration worker: answers each job with one message a cell, then with `done`.
parentPort?.on("message", (job: unknown) => {
  if (!isCalibrationJob(job)) throw new RangeError("Expected a calibration job");
  for (const result of runJob(job)) parentPort?.postMessage({ result });
  parentPort?.postMessage({ done: true });
});
