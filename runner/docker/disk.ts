import { statfs } from "node:fs/promises";
import { messageOf, RunnerError } from "../base/errors.ts";
import { isUnknown, type Known, unknown } from "../base/unknown.ts";
import type { Engine } from "./engine.ts";

/** The least free space at Docker's data root with which work may start, in bytes. */
export const MINIMUM_FREE_BYTES = 5_000_000_000;

/** Bytes that are free at the engine's data root; unknown when the engine is not on this machine. */
export async function freeDisk(engine: Engine): Promise<Known<number>> {
  if (engine.endpoint.kind !== "unix") return unknown("unavailable", "the engine is on another machine");
  try {
    const stats = await statfs(engine.facts.dataRoot);
    return stats.bavail * stats.bsize;
  } catch (thrown) {
    return unknown("unavailable", messageOf(thrown));
  }
}

/**
 * Refuses to go on with too little free disk; a full disk makes containers fail in ways that look like wrong answers.
 * An unknown amount passes and is returned as such.
 * @throws RunnerError `NO_SPACE`.
 */
export async function requireDisk(engine: Engine, bytes = MINIMUM_FREE_BYTES): Promise<Known<number>> {
  const free = await freeDisk(engine);
  if (!isUnknown(free) && free < bytes) {
    throw new RunnerError(
      "environment",
      "NO_SPACE",
      `${engine.facts.dataRoot} has ${gigabytes(free)} GB free, and ${gigabytes(bytes)} GB are needed`,
      {
        hint: "Free disk space at Docker's data root, then run again.",
        details: { freeBytes: free, neededBytes: bytes },
      },
    );
  }
  return free;
}

function gigabytes(bytes: number): string {
  return (bytes / 1e9).toFixed(1);
}
