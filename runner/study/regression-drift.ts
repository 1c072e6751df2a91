import { canonicalText } from "../base/canonical-json.ts";
import type {
  LockedImage,
  LockedOutcome,
  LockedServer,
  LockedStudy,
  LockedTask,
  RegressionLock,
} from "./regression-lock.ts";

/** What a difference is about. An upgrade of the server is told from a change of a task, and both from another outcome. */
export type DriftOf = "task" | "image" | "server" | "study" | "outcome";

/** One difference between a lock and what was found. `expected` and `found` are null where there is nothing. */
export interface Drift {
  readonly of: DriftOf;
  /** The task, image, server, study or, for outcomes, the task that was played. */
  readonly name: string;
  /** File, image role, package, tool, or who played. */
  readonly part: string;
  readonly expected: string | null;
  readonly found: string | null;
}

/** Everything that differs, in the order of the lock: inputs first, then outcomes. */
export function driftOf(lock: RegressionLock, found: RegressionLock): Drift[] {
  const server = lock.study?.server ?? found.study?.server ?? null;
  return [
    ...tasksDrift(lock, found),
    ...imagesDrift(lock.images, found.images, server?.image ?? null),
    ...studyDrift(lock.study, found.study),
    ...outcomesDrift(lock, found),
  ];
}

/** A comparison of two texts by key. */
function differences(
  of: DriftOf,
  name: string,
  expected: Readonly<Record<string, string>>,
  found: Readonly<Record<string, string>>,
): Drift[] {
  const parts = [...new Set([...Object.keys(expected), ...Object.keys(found)])].sort();
  return parts.flatMap((part) => {
    const [before, now] = [own(expected, part), own(found, part)];
    return before === now ? [] : [{ of, name, part, expected: before, found: now }];
  });
}

function own(record: Readonly<Record<string, string>>, key: string): string | null {
  return Object.hasOwn(record, key) ? (record[key] ?? null) : null;
}

function tasksDrift(lock: RegressionLock, found: RegressionLock): Drift[] {
  const names = [...new Set([...Object.keys(lock.tasks), ...Object.keys(found.tasks)])].sort();
  return names.flatMap((name): Drift[] => {
    const [before, now] = [lock.tasks[name], found.tasks[name]];
    if (before === undefined || now === undefined) {
      const there = (task: LockedTask | undefined) => (task === undefined ? null : "there");
      return [{ of: "task", name, part: "the task", expected: there(before), found: there(now) }];
    }
    const files = differences("task", name, before.files, now.files);
    // An image's inputs are files of the task or images below it, which are told by themselves; alone they still count.
    const images = differences("task", name, before.images, now.images);
    return [...files, ...images.map((drift) => ({ ...drift, part: `image ${drift.part}` }))];
  });
}

function imagesDrift(
  lock: Readonly<Record<string, LockedImage>>,
  found: Readonly<Record<string, LockedImage>>,
  server: string | null,
): Drift[] {
  const names = [...new Set([...Object.keys(lock), ...Object.keys(found)])].sort();
  return names.flatMap((name): Drift[] => {
    // The image that the server runs in is the server's package.
    const of = name === server ? "server" : "image";
    const [before, now] = [lock[name], found[name]];
    if (before === undefined || now === undefined) {
      const there = (image: LockedImage | undefined) => (image === undefined ? null : image.configDigest);
      return [{ of, name, part: "image", expected: there(before), found: there(now) }];
    }
    const packages = differences(of, name, before.packages, now.packages);
    const digests = differences(
      of,
      name,
      { "image inputs": before.inputDigest, "image configuration": before.configDigest },
      { "image inputs": now.inputDigest, "image configuration": now.configDigest },
    );
    return [...packages.map((drift) => ({ ...drift, part: `package ${drift.part}` })), ...digests];
  });
}

function studyDrift(lock: LockedStudy | null, found: LockedStudy | null): Drift[] {
  if (lock === null || found === null) {
    if (lock === found) return [];
    const path = (lock ?? found)?.path ?? "";
    const there = (study: LockedStudy | null) => (study === null ? null : study.digest);
    return [{ of: "study", name: path, part: "the study", expected: there(lock), found: there(found) }];
  }
  const flat = ({ digest, agent, model, cassettes }: LockedStudy): Record<string, string> => ({
    file: digest,
    agent,
    ...(model === null ? {} : { model }),
    ...Object.fromEntries(Object.entries(cassettes).map(([number, value]) => [`cassette of trial ${number}`, value])),
  });
  return [
    ...differences("study", lock.path, flat(lock), flat(found)),
    ...differences("server", lock.server.name, flatServer(lock.server), flatServer(found.server)),
  ];
}

function flatServer({ surface, server, instructions, tools, catalog }: LockedServer): Record<string, string> {
  return {
    surface,
    version: server,
    ...(instructions === null ? {} : { instructions }),
    ...Object.fromEntries(Object.entries(tools).map(([name, digest]) => [`tool ${name}`, digest])),
    ...(catalog === null ? {} : { catalog: catalog.digest, "catalog's operations": String(catalog.operations) }),
  };
}

function outcomesDrift(lock: RegressionLock, found: RegressionLock): Drift[] {
  const tasks = Object.entries(lock.tasks).flatMap(([name, { outcomes }]) =>
    differences("outcome", name, told(outcomes), told(found.tasks[name]?.outcomes ?? {})),
  );
  const study = lock.study;
  if (study === null) return tasks;
  return [...tasks, ...differences("outcome", study.path, told(study.outcomes), told(found.study?.outcomes ?? {}))];
}

function told(outcomes: Readonly<Record<string, LockedOutcome>>): Record<string, string> {
  return Object.fromEntries(Object.entries(outcomes).map(([who, outcome]) => [who, outcomeWords(outcome)]));
}

/** An outcome as one line: two are the same exactly when their lines are. */
export function outcomeWords({ outcome, reward, rewards, failedCheck, cause }: LockedOutcome): string {
  if (outcome !== "scored") return `${outcome}${cause === null ? "" : ` (${cause})`}`;
  const dimensions = rewards === null ? "" : ` ${canonicalText(rewards)}`;
  return `reward ${reward}${dimensions}${failedCheck === null ? "" : `, failed check ${failedCheck}`}`;
}
