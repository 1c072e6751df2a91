import { type FileHandle, open, readFile, truncate } from "node:fs/promises";
import { canonicalText } from "../base/canonical-json.ts";
import { type Digest, digestBytes, isDigest } from "../base/digest.ts";
import { hasCode, RunnerError } from "../base/errors.ts";
import { isObject, type Json } from "../base/json.ts";
import { parseStrictJson } from "../base/strict-json.ts";

/** What a run writes down before and after it acts. `type` is the kind of the event; the rest depends on it. */
export interface LedgerEvent {
  readonly type: string;
  readonly [key: string]: Json;
}

/** One line: the event with its place, and the digest of the line before (null on the first). */
export interface LedgerLine {
  readonly sequence: number;
  readonly previous: Digest | null;
  readonly event: LedgerEvent;
}

/** What {@link readLedger} found. */
export interface LedgerContent {
  readonly lines: readonly LedgerLine[];
  /** Digest of the last whole line. */
  readonly head: Digest | null;
  /** Bytes of a last line that was cut off by a crash; 0 when there is none. */
  readonly tornBytes: number;
  /** Bytes of the whole lines. */
  readonly wholeBytes: number;
}

/** An append-only ledger that is durable line by line. */
export interface Ledger extends AsyncDisposable {
  /** Appends one event; resolves when it would survive a power cut. Concurrent calls are written in order. */
  readonly append: (event: LedgerEvent) => Promise<void>;
  readonly head: () => Digest | null;
}

/**
 * Reads a ledger: lines end in `\n`, are canonical JSON, are numbered from 0 and carry the digest of the line before. A torn last line is
 * reported; anything wrong before it is refused.
 */
export async function readLedger(path: string): Promise<LedgerContent> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (cause) {
    if (hasCode(cause, "ENOENT")) return { lines: [], head: null, tornBytes: 0, wholeBytes: 0 };
    throw cause;
  }
  const lines: LedgerLine[] = [];
  let head: Digest | null = null;
  let at = 0;
  for (let end = bytes.indexOf(10, at); end !== -1; end = bytes.indexOf(10, at)) {
    const raw = bytes.subarray(at, end);
    const line = parseLine(raw, `${path}, line ${lines.length + 1}`);
    if (line.sequence !== lines.length || line.previous !== head) {
      throw new RunnerError(
        "integrity",
        "LEDGER_BROKEN",
        `${path}, line ${lines.length + 1}: does not follow the line before it`,
      );
    }
    lines.push(line);
    head = digestBytes(raw);
    at = end + 1;
  }
  return { lines, head, tornBytes: bytes.length - at, wholeBytes: at };
}

function parseLine(raw: Buffer, source: string): LedgerLine {
  const value = parseStrictJson(raw, { source });
  if (
    !isObject(value) ||
    typeof value.sequence !== "number" ||
    !(value.previous === null || isDigest(value.previous)) ||
    !isObject(value.event) ||
    typeof value.event.type !== "string" ||
    Object.keys(value).length !== 3 ||
    canonicalText(value) !== raw.toString("utf8")
  ) {
    throw new RunnerError("integrity", "LEDGER_BROKEN", `${source}: is not a canonical ledger line`);
  }
  return value as unknown as LedgerLine;
}

/**
 * Opens a ledger for appending; a torn last line (a crash while writing) is cut off first. `known` is what it holds, where whoever opens it
 * has read it and kept everybody else from appending since.
 */
export async function openLedger(path: string, known?: LedgerContent): Promise<Ledger> {
  const content = known ?? (await readLedger(path));
  if (content.tornBytes > 0) await truncate(path, content.wholeBytes);
  const handle = await open(path, "a");
  return appender(handle, content);
}

function appender(handle: FileHandle, content: LedgerContent): Ledger {
  let sequence = content.lines.length;
  let head = content.head;
  let last: Promise<void> = Promise.resolve();
  const write = async (event: LedgerEvent): Promise<void> => {
    const text = canonicalText({ sequence, previous: head, event });
    await handle.appendFile(`${text}\n`);
    await handle.datasync();
    sequence += 1;
    head = digestBytes(text);
  };
  return {
    append: (event) => {
      const next = last.then(() => write(event));
      // A failed append fails its caller; later appends fail as well, because the file's end is then unknown.
      last = next;
      next.catch(() => undefined);
      return next;
    },
    head: () => head,
    [Symbol.asyncDispose]: async () => {
      await last.catch(() => undefined);
      await handle.close();
    },
  };
}
