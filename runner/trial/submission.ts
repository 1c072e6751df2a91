import { unknown } from "../base/unknown.ts";
import type { ObjectStore } from "../evidence/store.ts";
import type { Task } from "../task/model.ts";
import { loadSubmissionCheck, MAX_SUBMISSION_BYTES } from "../task/submission.ts";
import type { ArtifactRecord, StepRecord } from "./record.ts";

/** Checks the collected submission against the task's public contract, apart from and before the hidden verifier. */
export async function checkSubmission(
  task: Task,
  artifacts: readonly ArtifactRecord[],
  store: Pick<ObjectStore, "readAll">,
): Promise<StepRecord["submission"]> {
  if (task.submission === null) return { status: "undeclared", places: [] };
  const { path, schemaFile } = task.submission;
  const content = artifacts.find((artifact) => artifact.path === path)?.content ?? null;
  if (content !== null && content.size > MAX_SUBMISSION_BYTES) {
    return {
      status: "invalid",
      places: [`the submission has ${content.size} bytes, more than ${MAX_SUBMISSION_BYTES}`],
    };
  }
  const check = await loadSubmissionCheck(schemaFile);
  const reading = check(content === null ? null : await store.readAll(content));
  switch (reading.state) {
    case "invalid":
      return {
        status: "invalid",
        places: [
          ...reading.places.map(({ pointer, message }) => `${pointer === "" ? "the root" : pointer}: ${message}`),
          ...(reading.truncated ? ["and more"] : []),
        ],
      };
    case "unknown":
      return unknown(reading.unknown, reading.detail);
    default:
      return { status: reading.state, places: [] };
  }
}
