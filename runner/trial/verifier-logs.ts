import { posix } from "node:path";
import { readArchive } from "../docker/archive/read.ts";
import type { Container } from "../docker/container.ts";
import type { ObjectRef } from "../evidence/object-ref.ts";
import type { ObjectStore } from "../evidence/store.ts";
import { MAX_REWARD_BYTES } from "../task/reward.ts";
import { MAX_VERDICT_BYTES } from "../task/verdict.ts";
import { roomFor, takesRoom } from "./listed-room.ts";
import type { StepRecord } from "./record.ts";

export const VERIFIER_LOGS = "/logs/verifier";
/** The files that the outcome depends on. */
export const DECISIVE: readonly string[] = ["reward.json", "reward.txt", "verdict.json"].map(
  (name) => `${VERIFIER_LOGS}/${name}`,
);
/** Files of the verifier that are kept as evidence, at most. */
const LIMITS = { entries: 2_000, fileBytes: 256 * 1024 ** 2, totalBytes: 1024 ** 3 };

/** As long as the reference of any file. */
const ANY_CONTENT: ObjectRef = { digest: `sha256:${"0".repeat(64)}`, size: Number.MAX_SAFE_INTEGER };

/** A file that the verifier left. */
export interface LogFile {
  readonly path: string;
  readonly content: ObjectRef;
  /** The bytes of a small file the outcome depends on; null when it is larger than its cap. */
  readonly bytes: Buffer | null;
}

/** What a dead verifier left in its log folder; `refused` names what is there and was not read, links among it. */
export interface VerifierLogs {
  readonly files: readonly LogFile[];
  readonly refused: StepRecord["refused"];
}

/**
 * Reads the verifier's log folder from its dead container by archive copy, straight into the store. What the record has no room to name is
 * counted; the files that the outcome depends on always have room. `steps` is how many steps share the trial's record.
 */
export async function readVerifierLogs(
  store: Pick<ObjectStore, "putStream" | "readAll">,
  container: Pick<Container, "getArchive">,
  steps: number,
  signal: AbortSignal,
): Promise<VerifierLogs> {
  const archive = await container.getArchive(VERIFIER_LOGS, { signal });
  if (archive === null) return { files: [], refused: [] };
  const files: LogFile[] = [];
  const refused: StepRecord["refused"] = [];
  const room = roomFor(steps);
  let unlisted = 0;
  const lists = (path: string, entry: unknown): boolean => {
    const listed = DECISIVE.includes(path) || takesRoom(room, entry);
    if (!listed) unlisted += 1;
    return listed;
  };
  const refuse = (path: string, reason: string): void => {
    if (lists(path, { path, reason })) refused.push({ path, reason });
  };
  const summary = await readArchive(archive, {
    root: VERIFIER_LOGS,
    signal,
    limits: LIMITS,
    onEntry: async (entry, body) => {
      const path = posix.join(VERIFIER_LOGS, entry.path);
      if (entry.type === "symlink" || entry.type === "hardlink") refuse(path, entry.type);
      if (entry.type !== "file" || body === null || !lists(path, { path, content: ANY_CONTENT })) return;
      const content = await store.putStream(body);
      const small = content.size <= Math.max(MAX_VERDICT_BYTES, MAX_REWARD_BYTES);
      files.push({ path, content, bytes: small ? await store.readAll(content) : null });
    },
  });
  for (const { path, reason } of summary.refused) refuse(posix.join(VERIFIER_LOGS, path), reason);
  if (unlisted > 0) refused.push({ path: VERIFIER_LOGS, reason: `limit: names of ${unlisted} more` });
  if (summary.truncatedBy !== null) {
    // What was not reached may have been a reward.
    refused.push(...DECISIVE.map((path) => ({ path, reason: `limit: ${summary.truncatedBy}` })));
  }
  return { files, refused };
}
