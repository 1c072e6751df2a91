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

/** An input that could not be used at all: nothing of it can be compared, and what would have been run with it was not. */
export interface Fault {
  readonly of: Exclude<DriftOf, "image" | "outcome">;
  /** The task, the study's path, or the server. */
  readonly name: string;
  /** What is wrong with it. */
  readonly why: string;
}

/** Everything that differs, in the order of the lock: inputs first, then outcomes. Of inputs with a fault, that is all that is said. */
export function driftOf(lock: RegressionLock, found: RegressionLock, faults: readonly Fault[] = []): Drift[] {
  const server = lock.study?.server ?? found.study?.server ?? null;
  const broken = (of: Fault["of"]) => faults.filter((fault) => fault.of === of);
  const without = ({ tasks }: RegressionLock) => {
    const names = new Set(broken("task").map(({ name }) => name));
    return Object.fromEntries(Object.entries(tasks).filter(([name]) => !names.has(name)));
  };
  const [before, now] = [without(lock), without(found)];
  const gone = broken("study").length > 0;
  // A study that was not run has no outcomes that could differ; why it was not is said beside the drift.
  const played = !gone && Object.keys(found.study?.outcomes ?? {}).length > 0;
  return [
    ...broken("task").map((fault) => faultDrift(fault, Object.hasOwn(lock.tasks, fault.name) ? "there" : null)),
    ...tasksDrift(before, now),
    ...imagesDrift(lock.images, found.images, server?.image ?? null),
    ...broken("study").map((fault) => faultDrift(fault, lock.study?.digest ?? null)),
    ...(gone ? [] : studyDrift(lock.study, found.study)),
    ...broken("server").map((fault) => faultDrift(fault, lock.study?.server.server ?? null)),
    ...outcomesDrift(before, now),
    ...(played && lock.study !== null && found.study !== null ? playedDrift(lock.study, found.study) : []),
  ];
}

function faultDrift({ of, name, why }: Fault, expected: string | null): Drift {
  return { of, name, part: `the ${of}`, expected, found: `cannot be used: ${why}` };
}

type Tasks = RegressionLock["tasks"];

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

function tasksDrift(lock: Tasks, found: Tasks): Drift[] {
  const names = [...new Set([...Object.keys(lock), ...Object.keys(found)])].sort();
  return names.flatMap((name): Drift[] => {
    const [before, now] = [lock[name], found[name]];
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

function outcomesDrift(lock: Tasks, found: Tasks): Drift[] {
  return Object.entries(lock).flatMap(([name, { outcomes }]) =>
    differences("outcome", name, told(outcomes), told(found[name]?.outcomes ?? {})),
  );
}

function playedDrift(lock: LockedStudy, found: LockedStudy): Drift[] {
  return differences("outcome", lock.path, told(lock.outcomes), told(found.outcomes));
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
