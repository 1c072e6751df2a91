import { lstat, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { z } from "zod";
import { canonicalBytes } from "../base/canonical-json.ts";
import { type Digest, digestBytes, isDigest } from "../base/digest.ts";
import { hasCode, messageOf, RunnerError } from "../base/errors.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import { BUNDLE } from "./bundle.ts";
import { digestSchema } from "./object-ref.ts";
import { requireOutsideBundles } from "./outside-bundle.ts";
import { signBytes, verifySignature } from "./signature.ts";

const MAX_NOTE_BYTES = 64 * 1024;

const reviewSchema = z.strictObject({
  schemaVersion: z.literal("1"),
  kind: z.literal("review"),
  /** Digest of the exact bytes of the document that the note is about. */
  reportSha256: digestSchema,
  note: z.string().min(1),
  /** Wall-clock label. */
  writtenAt: z.string(),
});

/** An operator's note about one report. It interprets; it never changes a figure. */
export type ReviewNote = z.infer<typeof reviewSchema>;

export interface WriteReviewInput {
  /** A run's bundle, or a comparison file. */
  readonly subject: string;
  /** The anchor that the document must have. */
  readonly reportSha256: string;
  /** File with the note, UTF-8. */
  readonly noteFile: string;
  /** SSH key to sign with; null: not signed. */
  readonly key: string | null;
  readonly writtenAt: string;
}

export interface WrittenReview {
  readonly path: string;
  /** Digest of the review file. */
  readonly sha256: Digest;
  readonly signaturePath: string | null;
}

/**
 * Binds a note to a report's digest and keeps it beside the bundle as `<name>.review.json`, with `<name>.review.json.sig` when a key signs it.
 * @throws RunnerError `ANCHOR_MALFORMED`, `REPORT_CHANGED`, `NOTE_UNREADABLE`, `REVIEW_EXISTS`, `INSIDE_BUNDLE`, and those of signing.
 */
export async function writeReview(input: WriteReviewInput): Promise<WrittenReview> {
  const subject = resolve(input.subject);
  const reportSha256 = await requireAnchor(subject, input.reportSha256);
  const note = await readNote(input.noteFile);
  const path = await requireOutsideBundles(join(dirname(subject), `${basename(subject)}.review.json`), "the review");
  const { writtenAt } = input;
  const review: ReviewNote = { schemaVersion: "1", kind: "review", reportSha256, note, writtenAt };
  const bytes = canonicalBytes(review);
  const signature = input.key === null ? null : await signBytes(bytes, input.key);
  const signaturePath = `${path}.sig`;
  if (signature !== null) await writeNew(signaturePath, signature);
  await writeNew(path, bytes);
  return { path, sha256: digestBytes(bytes), signaturePath: signature === null ? null : signaturePath };
}

async function requireAnchor(subject: string, anchor: string): Promise<Digest> {
  if (!isDigest(anchor)) {
    throw new RunnerError(
      "usage",
      "ANCHOR_MALFORMED",
      `expected an anchor of the form sha256:<64 hex>, got ${JSON.stringify(anchor)}`,
      { hint: "Pass the digest of the report_sha256 line that the run printed." },
    );
  }
  const info = await lstat(subject).catch(() => null);
  const document = info?.isDirectory() === true ? join(subject, BUNDLE.report) : subject;
  const found = digestBytes(await read(document, "REPORT_MISSING", "the report"));
  if (found !== anchor) {
    throw new RunnerError("integrity", "REPORT_CHANGED", `${document} has digest ${found}, the anchor says ${anchor}`, {
      hint: "A note is bound to the report that was read; pass that report's own anchor.",
    });
  }
  return anchor;
}

async function readNote(path: string): Promise<string> {
  const bytes = await read(path, "NOTE_UNREADABLE", "the note");
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes).trim();
  } catch (cause) {
    throw new RunnerError("input", "NOTE_UNREADABLE", `the note ${path} is not UTF-8`, { cause });
  }
  if (text === "" || bytes.byteLength > MAX_NOTE_BYTES) {
    const seen = text === "" ? "is empty" : `has ${bytes.byteLength} bytes, more than ${MAX_NOTE_BYTES}`;
    throw new RunnerError("input", "NOTE_UNREADABLE", `the note ${path} ${seen}`);
  }
  return text;
}

async function writeNew(path: string, bytes: Uint8Array | string): Promise<void> {
  try {
    await writeFile(path, bytes, { flag: "wx", flush: true });
  } catch (cause) {
    if (!hasCode(cause, "EEXIST")) throw cause;
    throw new RunnerError("refused", "REVIEW_EXISTS", `${path} is there already`, {
      hint: "Notes are kept, not rewritten: move it away under a name of its own, then review again.",
      cause,
    });
  }
}

/** A review read back, with what is known of its signature. */
export interface ReadReview extends ReviewNote {
  /** In words, for reports. */
  readonly signature: string;
}

/**
 * Reads a review. With an allowed signers file its signature must be there and hold; without one the report says that it was not checked.
 * @throws RunnerError `REVIEW_UNREADABLE`, `INPUT_INVALID`, `REVIEW_NOT_CANONICAL`, `REVIEW_SIGNATURE`.
 */
export async function readReview(path: string, allowedSigners: string | null): Promise<ReadReview> {
  const bytes = await read(path, "REVIEW_UNREADABLE", "the review");
  const review = parseInput(reviewSchema, parseStrictJson(bytes, { source: path, maxBytes: 1024 * 1024 }), path);
  if (!canonicalBytes(review).equals(bytes))
    throw new RunnerError("integrity", "REVIEW_NOT_CANONICAL", `${path} is not written as canonical JSON`);
  const signature = await readFile(`${path}.sig`, "utf8").catch((cause: unknown) => {
    if (hasCode(cause, "ENOENT")) return null;
    throw cause;
  });
  if (allowedSigners === null)
    return { ...review, signature: signature === null ? "not signed" : "signed, and the signature was not checked" };
  const verdict =
    signature === null
      ? { valid: false as const, reason: `${path}.sig does not exist` }
      : await verifySignature({ bytes, signature, allowedSigners, signer: null });
  if (verdict.valid) return { ...review, signature: `signed by ${verdict.signer}` };
  throw new RunnerError("integrity", "REVIEW_SIGNATURE", `${path}: its signature does not hold: ${verdict.reason}`, {
    hint: "Leave the allowed signers out to show the note as not checked, or get a note that an allowed key signed.",
  });
}

async function read(path: string, code: string, what: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    const problem = hasCode(cause, "ENOENT") ? "does not exist" : messageOf(cause);
    throw new RunnerError("input", code, `${what} ${path} ${problem}`, { cause });
  }
}
