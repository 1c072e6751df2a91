import { linkSync, mkdirSync, readdirSync } from "node:fs";
import { copyFile, lstat, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { canonicalBytes, canonicalText } from "../../runner/base/canonical-json.ts";
import { type Digest, digestBytes } from "../../runner/base/digest.ts";
import { type Surface, surfaceSchema } from "../../runner/base/formats/surface.ts";
import type { Json } from "../../runner/base/json.ts";
import { BUNDLE } from "../../runner/evidence/bundle.ts";
import { collectObjectRefs, type ObjectRef } from "../../runner/evidence/object-ref.ts";
import { listObjects, objectPath, readableStore } from "../../runner/evidence/store.ts";
import type { Plan } from "../../runner/study/plan.ts";
import type { RunReport } from "../../runner/study/run-report.ts";
import { countOutcomes, rowContext, rowLines } from "../../runner/study/seal-run.ts";
import { deriveRow, type TrialRow } from "../../runner/study/trial-row.ts";
import type { TrialRecord } from "../../runner/trial/record.ts";

/** A bundle taken apart. */
export interface Parts {
  readonly report: RunReport;
  readonly plan: Plan;
  /** In the order of the report's trials. */
  records: TrialRecord[];
  /** Events of the ledger; the records that they seal are filled in again. */
  events: { type: string; [key: string]: Json }[];
  /** Reads an object as text. */
  readonly text: (ref: ObjectRef) => Promise<string>;
  /** Stores bytes as an object. */
  readonly put: (bytes: string | Uint8Array) => Promise<ObjectRef>;
}

/** Copies a bundle by hard links; whatever is changed is written anew. */
export function cloneBundle(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) cloneBundle(source, target);
    else linkSync(source, target);
  }
}

/** Puts other bytes under a name, never into a file that a clone shares. */
export async function replaceFile(path: string, bytes: Uint8Array | string): Promise<void> {
  await rm(path, { recursive: true, force: true });
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, bytes);
}

/** Puts a link to the file's own bytes, kept outside of the bundle, in its place. */
export async function replaceByLink(path: string, outside: string): Promise<void> {
  await rm(outside, { force: true });
  await copyFile(path, outside);
  await rm(path);
  await symlink(outside, path);
}

/**
 * Takes a bundle apart, lets a forger change it, and seals it again as well as anyone can who has the product's own code: objects stored
 * under their new digests, the ledger chained again, rows and counts derived again, nothing left over, and a new anchor. What this
 * cannot mend is what the evidence itself says.
 */
export async function forge(dir: string, change: (parts: Parts) => Promise<void> | void): Promise<Digest> {
  const store = readableStore(dir);
  const read = async (ref: ObjectRef) => (await store.readAll(ref)).toString("utf8");
  const put = async (bytes: string | Uint8Array): Promise<ObjectRef> => {
    const content = Buffer.from(bytes);
    const digest = digestBytes(content);
    await replaceFile(join(dir, objectPath(digest)), content);
    return { digest, size: content.length };
  };
  const report: RunReport = JSON.parse(await readFile(join(dir, BUNDLE.report), "utf8"));
  const plan: Plan = JSON.parse(await read(report.plan));
  const locked: Surface = surfaceSchema.parse(JSON.parse(await read(report.lockedSurface)));
  const records = await Promise.all(
    report.trials.map(async ({ record }): Promise<TrialRecord> => JSON.parse(await read(record))),
  );
  const ledger = (await readFile(join(dir, BUNDLE.ledger), "utf8")).trimEnd().split("\n");
  const parts: Parts = { report, plan, records, events: ledger.map((line) => JSON.parse(line).event), text: read, put };
  await change(parts);
  const planBefore = report.plan.digest;
  report.plan = await put(canonicalBytes(plan));
  for (const event of parts.events)
    if (event.type === "run-opened" && event.plan === planBefore) event.plan = report.plan.digest;
  await replaceFile(join(dir, BUNDLE.plan), canonicalBytes(plan));
  const rows: TrialRow[] = [];
  report.trials = [];
  for (const record of parts.records) {
    const ref = await put(canonicalBytes(record));
    report.trials.push({ number: record.number, attempt: record.attempt, record: ref });
    for (const event of parts.events)
      if (event.type === "trial-sealed" && event.number === record.number && event.attempt === record.attempt)
        event.record = { ...ref };
    rows.push(await deriveRow(store, record, rowContext(plan, locked.tools, record.task)).catch(() => LOST));
  }
  report.rows = await put(rowLines(rows.filter((row) => row !== LOST)));
  report.outcomes = countOutcomes(rows);
  let head: Digest | null = null;
  const lines = parts.events.map((event, sequence) => {
    const text = canonicalText({ sequence, previous: head, event });
    head = digestBytes(text);
    return `${text}\n`;
  });
  const bytes = Buffer.from(lines.join(""));
  await replaceFile(join(dir, BUNDLE.ledger), bytes);
  report.ledger = { digest: digestBytes(bytes), size: bytes.length, head: head ?? digestBytes("") };
  const more = [...report.superseded.map(({ record }) => record), ...(report.earlier ?? [])];
  const documents = await Promise.all(more.map(async (ref): Promise<unknown> => JSON.parse(await read(ref))));
  return await reseal(dir, report, [...parts.records, ...documents]);
}

const LOST = { outcome: "infra_error" } as TrialRow;

/** Writes the root document of a forged bundle and takes away what nothing refers to. */
export async function reseal(dir: string, report: unknown, records: readonly unknown[]): Promise<Digest> {
  const bytes = canonicalBytes(report);
  await replaceFile(join(dir, BUNDLE.report), bytes);
  const kept = new Set([...collectObjectRefs(report), ...collectObjectRefs(records)].map(({ digest }) => digest));
  for (const digest of (await listObjects(dir)).digests) if (!kept.has(digest)) await rm(join(dir, objectPath(digest)));
  return digestBytes(bytes);
}

/** Every regular file of a bundle, relative to it. */
export async function filesOf(dir: string): Promise<string[]> {
  const files: string[] = [];
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if ((await lstat(path)).isFile()) files.push(path.slice(dir.length + 1));
  }
  return files.sort();
}
