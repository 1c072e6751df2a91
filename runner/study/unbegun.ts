import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { hasCode } from "../base/errors.ts";
import { BUNDLE, requireEmpty } from "../evidence/bundle.ts";
import { readLedger } from "../evidence/ledger.ts";
import { CONDITIONS } from "./order.ts";

/** What a durable write leaves when its process dies before the rename. */
const TEMPORARY = /^\.[0-9a-f-]{36}\.tmp$/;

/**
 * Makes an output folder fit for a new run: it must be absent or empty, or hold only what a run left that was killed before it opened. Such
 * a run has begun no trial, so nothing of it is evidence, and it is cleared away.
 * @throws RunnerError `OUT_NOT_EMPTY`, `OUT_UNWRITABLE`.
 */
export async function clearUnbegun(out: string): Promise<void> {
  const names = await readdir(out).catch(() => []);
  const sides = names.filter((name) => CONDITIONS.some((condition) => condition === name));
  const pair = sides.length > 0 && sides.length === names.length;
  const unbegun = pair
    ? (await Promise.all(sides.map((side) => isUnbegun(join(out, side))))).every(Boolean)
    : names.length > 0 && (await isUnbegun(out));
  if (unbegun) for (const name of names) await rm(join(out, name), { recursive: true, force: true });
  await requireEmpty(out);
}

/** Removes what interrupted durable writes left in a folder. */
export async function removeTemporaries(dir: string): Promise<void> {
  for (const name of await readdir(dir).catch(() => []))
    if (TEMPORARY.test(name)) await rm(join(dir, name), { force: true });
}

/** A bundle that was being made: its own files and no others, no report, and no whole line in its ledger. */
async function isUnbegun(dir: string): Promise<boolean> {
  const own = new Set<string>([BUNDLE.plan, BUNDLE.ledger, "objects"]);
  const names = await readdir(dir).catch(() => null);
  if (names === null || !names.every((name) => own.has(name) || TEMPORARY.test(name))) return false;
  // A folder of a plan has no ledger, and no bundle has its plan before its ledger, or anything in its store.
  if (!names.includes(BUNDLE.ledger)) return !names.includes(BUNDLE.plan) && (await isBare(join(dir, "objects")));
  return (await readLedger(join(dir, BUNDLE.ledger))).lines.length === 0;
}

/** A store that nothing was put into, or none at all. */
async function isBare(objects: string): Promise<boolean> {
  const entries = await readdir(objects, { recursive: true }).catch((thrown: unknown) => {
    if (hasCode(thrown, "ENOENT")) return [];
    throw thrown;
  });
  return entries.every((name) => name === "tmp");
}
