import { posix } from "node:path";
import type { PackEntry } from "../docker/archive/pack.ts";
import { type ArchiveEntry, readArchive } from "../docker/archive/read.ts";
import type { Container } from "../docker/container.ts";
import type { ObjectRef } from "../evidence/object-ref.ts";
import type { ObjectStore } from "../evidence/store.ts";
import type { ArtifactSpec } from "../task/model.ts";
import { matchesExclude } from "./exclude.ts";
import { type Room, roomFor, takesRoom } from "./listed-room.ts";
import type { ArtifactRecord, StepRecord } from "./record.ts";

/** Bounds of everything that is collected from one container. */
export const COLLECT_LIMITS = { entries: 20_000, fileBytes: 1024 ** 3, totalBytes: 4 * 1024 ** 3 };

/** What was read from a dead container. */
export interface Collected {
  readonly artifacts: ArtifactRecord[];
  readonly refused: StepRecord["refused"];
  /** Files below `/logs/verifier` before the verifier existed. */
  readonly planted: StepRecord["planted"];
}

const LOGS = "/logs";
const AGENT_LOGS = "/logs/agent";
const VERIFIER_LOGS = "/logs/verifier";

/**
 * Reads the declared artifacts and the log folders from a dead container, entry by entry and straight into the store. What cannot be
 * kept (links that leave, devices, limits, absent sources) is listed with its reason. `steps` is how many steps share the trial's record.
 */
export async function collect(
  container: Container,
  store: ObjectStore,
  artifacts: readonly ArtifactSpec[],
  workdir: string,
  steps: number,
  signal: AbortSignal,
): Promise<Collected> {
  const room = roomFor(steps);
  const logs = await readTree(container, store, LOGS, [], roomFor(steps), signal);
  const inLogs = (prefix: string): ArtifactRecord[] => logs.entries.filter(({ path }) => isBelow(path, prefix));
  const collected: Collected = {
    artifacts: inLogs(AGENT_LOGS),
    refused: logs.refused,
    planted: inLogs(VERIFIER_LOGS)
      .filter((entry) => entry.type !== "directory")
      .map(({ path, content }) => ({ path, content })),
  };
  for (const spec of artifacts) {
    const source = posix.resolve(workdir, spec.source);
    if (isBelow(source, LOGS)) {
      const found = inLogs(source).filter(({ path }) => !excluded(spec, source, path));
      claim(collected.artifacts, found);
      if (found.length === 0 && !spec.implicit) collected.refused.push({ path: source, reason: "absent" });
    } else {
      const tree = await readTree(container, store, source, spec.exclude, room, signal);
      claim(collected.artifacts, tree.entries);
      collected.refused.push(...tree.refused);
    }
  }
  return collected;
}

function isBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(`${root}/`);
}

function excluded(spec: ArtifactSpec, root: string, path: string): boolean {
  return spec.exclude.some((pattern) => matchesExclude(pattern, path.slice(root.length + 1)));
}

/** The first claimant of a path keeps it. */
function claim(artifacts: ArtifactRecord[], found: readonly ArtifactRecord[]): void {
  const taken = new Set(artifacts.map(({ path }) => path));
  artifacts.push(...found.filter(({ path }) => !taken.has(path)));
}

interface Tree {
  readonly entries: ArtifactRecord[];
  readonly refused: { path: string; reason: string }[];
}

async function readTree(
  container: Container,
  store: ObjectStore,
  root: string,
  exclude: readonly string[],
  room: Room,
  signal: AbortSignal,
): Promise<Tree> {
  const archive = await container.getArchive(root, { signal });
  if (archive === null) return { entries: [], refused: root === LOGS ? [] : [{ path: root, reason: "absent" }] };
  const entries: ArtifactRecord[] = [];
  const byPath = new Map<string, ArtifactRecord>();
  let unlisted = 0;
  const keep = (record: ArtifactRecord): void => {
    if (!takesRoom(room, record)) {
      unlisted += 1;
      return;
    }
    entries.push(record);
    byPath.set(record.path, record);
  };
  const summary = await readArchive(archive, {
    root,
    signal,
    limits: COLLECT_LIMITS,
    onEntry: async (entry, body) => {
      if (exclude.some((pattern) => matchesExclude(pattern, entry.path))) return;
      const path = absolute(root, entry.path);
      if (room.bytes < 0) {
        unlisted += 1;
        return;
      }
      const content = entry.type === "file" && body !== null ? await store.putStream(body) : null;
      keep(toRecord(entry, path, content, (target) => byPath.get(absolute(root, target))));
    },
  });
  const refused: Tree["refused"] = [];
  for (const { path, reason, detail } of summary.refused) {
    const refusal = { path: absolute(root, path), reason: detail === undefined ? reason : `${reason}: ${detail}` };
    if (takesRoom(room, refusal)) refused.push(refusal);
    else unlisted += 1;
  }
  if (summary.refusedTotal > summary.refused.length) {
    refused.push({ path: root, reason: `${summary.refusedTotal - summary.refused.length} more were refused` });
  }
  if (unlisted > 0) refused.push({ path: root, reason: `limit: names of ${unlisted} more` });
  if (summary.truncatedBy !== null) refused.push({ path: root, reason: `limit: ${summary.truncatedBy}` });
  return { entries, refused };
}

function absolute(root: string, path: string): string {
  return path === "" ? root : posix.join(root, path);
}

function toRecord(
  entry: ArchiveEntry,
  path: string,
  content: ObjectRef | null,
  find: (target: string) => ArtifactRecord | undefined,
): ArtifactRecord {
  switch (entry.type) {
    case "directory":
      return { path, type: "directory", mode: entry.mode, content: null, linkTarget: null };
    case "file":
      return { path, type: "file", mode: entry.mode, content, linkTarget: null };
    case "hardlink": {
      // A second name of a file travels as a file of its own: the verifier sees the same bytes.
      const original = find(entry.target);
      return {
        path,
        type: "file",
        mode: original?.mode ?? 0o644,
        content: original?.content ?? null,
        linkTarget: null,
      };
    }
    case "symlink":
      return { path, type: "link", mode: 0o777, content: null, linkTarget: entry.target };
  }
}

/** Collected artifacts as archive entries at their original places, parents before children. */
export function artifactEntries(artifacts: readonly ArtifactRecord[], store: Pick<ObjectStore, "read">): PackEntry[] {
  return artifacts.flatMap((artifact): PackEntry[] => {
    const path = artifact.path.slice(1);
    const { content, linkTarget, mode } = artifact;
    if (artifact.type === "directory") return [{ path, type: "directory", mode }];
    if (content !== null) return [{ path, type: "file", mode, stream: store.read(content), size: content.size }];
    return linkTarget === null ? [] : [{ path, type: "symlink", target: linkTarget }];
  });
}
