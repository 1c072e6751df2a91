import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Digest, digestBytes } from "../base/digest.ts";
import { messageOf, RunnerError } from "../base/errors.ts";
import { type Cassette, cassetteSchema } from "../base/formats/cassette.ts";
import type { ModelApi } from "../base/formats/common.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import type { Condition } from "./order.ts";

/** A cassette file, checked. */
export interface LoadedCassette {
  readonly name: string;
  readonly bytes: Buffer;
  readonly digest: Digest;
  readonly source: "replayed" | "scripted";
  readonly cassette: Cassette;
}

/** Reads every cassette of a folder. @throws RunnerError `REPLAY_UNREADABLE`, `JSON_INVALID`, `INPUT_INVALID`. */
export async function loadCassettes(dir: string): Promise<LoadedCassette[]> {
  let names: string[];
  try {
    names = (await readdir(dir)).filter((name) => name.endsWith(".json")).sort();
  } catch (cause) {
    throw new RunnerError(
      "input",
      "REPLAY_UNREADABLE",
      `the replay folder ${dir} cannot be read: ${messageOf(cause)}`,
      {
        hint: "Pass a folder of cassettes with --replay, or name one in the study's model.replay.",
        cause,
      },
    );
  }
  if (names.length === 0) {
    throw new RunnerError("input", "REPLAY_EMPTY", `the replay folder ${dir} holds no cassette (*.json)`);
  }
  return Promise.all(
    names.map(async (name) => {
      const source = join(dir, name);
      const bytes = await readFile(source);
      const cassette = parseInput<Cassette>(cassetteSchema, parseStrictJson(bytes, { source }), source);
      return {
        name,
        bytes,
        digest: digestBytes(bytes),
        source: cassette.modelSource === "recorded" ? "replayed" : "scripted",
        cassette,
      };
    }),
  );
}

/**
 * The cassette that answers for a trial: the one file with a conversation that fits.
 * @throws RunnerError `CASSETTE_MISSING`, `CASSETTE_AMBIGUOUS`.
 */
export function cassetteFor(
  cassettes: readonly LoadedCassette[],
  trial: { readonly task: string; readonly condition: Condition; readonly repetition: number },
  api: ModelApi,
): LoadedCassette {
  const fitting = cassettes.filter(({ cassette }) =>
    cassette.conversations.some(
      ({ scope }) =>
        scope.task === trial.task &&
        (scope.condition === "any" || scope.condition === trial.condition) &&
        (scope.repetition === "any" || scope.repetition === trial.repetition) &&
        (scope.api === "any" || scope.api === api),
    ),
  );
  const what = `${trial.task}, ${trial.condition}, repetition ${trial.repetition}, API ${api}`;
  const [first, second] = fitting;
  if (first === undefined) {
    throw new RunnerError("input", "CASSETTE_MISSING", `no cassette holds a conversation for ${what}`, {
      hint: "Record one, or narrow the run with --tasks and --repetitions.",
    });
  }
  if (second !== undefined) {
    throw new RunnerError(
      "input",
      "CASSETTE_AMBIGUOUS",
      `both ${first.name} and ${second.name} hold a conversation for ${what}`,
      {
        hint: "Keep each conversation in one file.",
      },
    );
  }
  return first;
}
