import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { makeDirectory, writeDurably } from "../base/durable.ts";
import { hasCode, messageOf, RunnerError } from "../base/errors.ts";
import { type Ledger, type LedgerContent, openLedger } from "./ledger.ts";
import { redact, secretBytes } from "./redact.ts";
import { type ObjectStore, openStore } from "./store.ts";

/** Names of the files at the top of an evidence bundle. */
export const BUNDLE = { report: "report.json", plan: "plan.json", ledger: "ledger.jsonl" } as const;

/** A bundle that is being written. */
export interface BundleWriter extends AsyncDisposable {
  readonly dir: string;
  readonly store: ObjectStore;
  readonly ledger: Ledger;
  /** How many secret values were taken out of what was stored. */
  readonly redactions: () => number;
  /** Writes one of the bundle's top-level documents durably. */
  readonly writeDocument: (name: string, bytes: Uint8Array) => Promise<void>;
}

/** What a bundle must never hold. */
export interface BundleOptions {
  /** Values of the run's own secrets, such as the provider's key. */
  readonly secrets?: readonly (string | null | undefined)[];
  /** What the bundle's ledger holds, where it was read under a lock that still holds. */
  readonly ledger?: LedgerContent;
}

/**
 * Makes a new bundle in `dir`, which must not exist or must be empty. Exact values of the secrets are taken out of everything stored.
 * @throws RunnerError `OUT_NOT_EMPTY`, `OUT_UNWRITABLE`.
 */
export async function createBundle(dir: string, options: BundleOptions = {}): Promise<BundleWriter> {
  await requireEmpty(dir);
  await mkdir(dir, { recursive: true });
  await makeDirectory(dir);
  return openBundle(dir, options);
}

/** Opens a bundle for writing: a new one, or one whose run was interrupted. */
export async function openBundle(dir: string, options: BundleOptions = {}): Promise<BundleWriter> {
  let redactions = 0;
  const secrets = secretBytes(options.secrets ?? []);
  const opened = await evidence(() => openStore(dir));
  const store = guard(opened, (source) =>
    redact(source, secrets, () => {
      redactions += 1;
    }),
  );
  const ledger = await evidence(() => openLedger(join(dir, BUNDLE.ledger), options.ledger));
  return {
    dir,
    store,
    ledger: { ...ledger, append: (event) => evidence(() => ledger.append(event)) },
    redactions: () => redactions,
    writeDocument: (name, bytes) => evidence(() => writeDurably(join(dir, name), bytes)),
    [Symbol.asyncDispose]: () => ledger[Symbol.asyncDispose](),
  };
}

/** Refuses a folder that holds anything; an absent one is fine. */
export async function requireEmpty(dir: string): Promise<void> {
  let names: string[];
  try {
    names = await readdir(dir);
  } catch (cause) {
    if (hasCode(cause, "ENOENT")) return;
    throw new RunnerError("usage", "OUT_UNWRITABLE", `cannot use ${dir} as the output folder: ${messageOf(cause)}`, {
      hint: "Pass another folder with --out.",
      cause,
    });
  }
  if (names.length > 0) {
    throw new RunnerError(
      "usage",
      "OUT_NOT_EMPTY",
      `the output folder ${dir} already holds ${names.slice(0, 3).join(", ")}`,
      {
        hint: "Pass a new folder with --out: evidence of two runs is never mixed.",
      },
    );
  }
}

/** A store whose write failures stop the run: evidence that cannot be kept is not evidence. */
function guard(
  store: ObjectStore,
  clean: (source: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>,
): ObjectStore {
  const keep = (source: AsyncIterable<Uint8Array>) => putStream(store, clean(source));
  return {
    ...store,
    put: (bytes) => keep(Readable.from([typeof bytes === "string" ? Buffer.from(bytes) : bytes])),
    putStream: keep,
    sync: () => evidence(() => store.sync()),
  };
}

async function putStream(store: ObjectStore, source: AsyncIterable<Uint8Array>): ReturnType<ObjectStore["putStream"]> {
  let sourceFailed = false;
  async function* watched(): AsyncGenerator<Uint8Array> {
    try {
      yield* source;
    } catch (thrown) {
      // The source's failure is the trial's affair, not the store's.
      sourceFailed = true;
      throw thrown;
    }
  }
  try {
    return await store.putStream(watched());
  } catch (thrown) {
    throw sourceFailed ? thrown : writeFailure(thrown);
  }
}

async function evidence<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (thrown) {
    throw writeFailure(thrown);
  }
}

function writeFailure(cause: unknown): unknown {
  // What is wrong with what lies there is no failure to write.
  if (cause instanceof RunnerError) return cause;
  return new RunnerError("environment", "EVIDENCE_WRITE", `evidence could not be written: ${messageOf(cause)}`, {
    hint: "The run stopped; what was sealed before is whole. Free disk space, then resume the run, or start it again.",
    cause,
  });
}
