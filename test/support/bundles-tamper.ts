import { mkdir, readFile, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { canonicalBytes } from "../../runner/base/canonical-json.ts";
import { type Digest, digestBytes } from "../../runner/base/digest.ts";
import { BUNDLE } from "../../runner/evidence/bundle.ts";
import { compareBundles } from "../../runner/study/compare.ts";
import type { Condition } from "../../runner/study/order.ts";
import { inspectBundle } from "../../runner/study/verify-bundle.ts";
import { cloneBundle, filesOf, forge, replaceByLink, replaceFile } from "./bundles-forge.ts";
import { FORGERIES } from "./bundles-forgeries.ts";

const FORGED = "forged, new anchor";

/** One change of one bundle. */
interface Mutation {
  readonly name: string;
  readonly side: Condition;
  /** What a reason must name. */
  readonly place: RegExp;
  /** Changes the bundle; gives the anchor to use when it is not the old one. */
  readonly apply: (dir: string, scratch: string) => Promise<Digest | undefined>;
}

/** What became of one change. */
export interface TamperResult {
  readonly name: string;
  /** null: refused, and a reason names the place. */
  readonly problem: string | null;
}

export interface TamperReport {
  readonly mutations: number;
  /** By group: the words before the first colon of a mutation's name. */
  readonly groups: Readonly<Record<string, number>>;
  /** Changes that were not refused, or not at their place. */
  readonly survivors: readonly TamperResult[];
}

/**
 * Changes a real pair of bundles in every way that is listed, one at a time on a clone, and compares: each must be refused with a reason
 * that names the place. The untouched pair, and one that was only taken apart and sealed again, must be valid; else the suite throws.
 * A comparison lists whatever speaks against either bundle, so the changed bundle is looked at alone first; the whole pair is compared
 * where it stands by itself, and for every 25th change.
 */
export async function tamperSuite(
  control: string,
  treatment: string,
  anchors: { readonly control: Digest; readonly treatment: Digest },
  scratch: string,
): Promise<TamperReport> {
  const pair = { control, treatment };
  const { signal } = new AbortController();
  const compare = async (dirs: typeof pair, given: typeof anchors): Promise<readonly string[] | null> => {
    const comparison = await compareBundles({ folders: [dirs.control, dirs.treatment], anchors: given }, signal);
    return comparison.valid ? null : comparison.reasons;
  };
  const clone = join(scratch, "clone");
  const on = async (mutation: Mutation, whole: boolean): Promise<readonly string[] | null> => {
    await rm(scratch, { recursive: true, force: true });
    cloneBundle(pair[mutation.side], clone);
    const anchor = (await mutation.apply(clone, scratch)) ?? anchors[mutation.side];
    const { reasons } = (await inspectBundle(clone, anchor, signal)).verification;
    if (reasons.length > 0 && !whole) return reasons;
    return compare({ ...pair, [mutation.side]: clone }, { ...anchors, [mutation.side]: anchor });
  };
  const untouched = await compare(pair, anchors);
  if (untouched !== null) throw new Error(`the untouched pair is refused: ${untouched.join("; ")}`);
  for (const side of ["control", "treatment"] as const) {
    const resealed = await on(
      { name: "sealed again", side, place: /^/, apply: (dir) => forge(dir, () => undefined) },
      true,
    );
    if (resealed !== null) throw new Error(`${side}, only sealed again, is refused: ${resealed.join("; ")}`);
  }
  const mutations: Mutation[] = [];
  for (const side of ["control", "treatment"] as const) {
    mutations.push(...(await byteMutations(side, pair[side])), ...pathMutations(side), ...rawMutations(side));
    for (const forgery of FORGERIES.filter(({ only }) => only === undefined || only === side)) {
      const apply = (dir: string) => forge(dir, forgery.change);
      mutations.push({ name: `${FORGED}: ${side} ${forgery.name}`, side, place: forgery.place, apply });
    }
  }
  const survivors: TamperResult[] = [];
  let total = mutations.length;
  const groups: Record<string, number> = {};
  for (const [index, mutation] of mutations.entries()) {
    const group = mutation.name.split(":", 1)[0] ?? "";
    groups[group] = (groups[group] ?? 0) + 1;
    const problem = problemOf(mutation.place, mutation.side, await on(mutation, index % 25 === 0));
    if (problem !== null) survivors.push({ name: mutation.name, problem });
    if (!mutation.name.startsWith(FORGED)) continue;
    // Without the anchor of its new bytes, the same forgery is refused before it is parsed.
    const name = mutation.name.replace(FORGED, "forged, old anchor");
    groups["forged, old anchor"] = (groups["forged, old anchor"] ?? 0) + 1;
    total += 1;
    const { reasons } = (await inspectBundle(clone, anchors[mutation.side], signal)).verification;
    const old = problemOf(/report\.json has digest/, mutation.side, reasons.length === 0 ? null : reasons);
    if (old !== null) survivors.push({ name, problem: old });
  }
  await rm(scratch, { recursive: true, force: true });
  return { mutations: total, groups, survivors };
}

function problemOf(place: RegExp, side: Condition, reasons: readonly string[] | null): string | null {
  if (reasons === null) return "it was accepted";
  const own = reasons.filter((reason) => !reason.startsWith(side === "control" ? "treatment:" : "control:"));
  return own.some((reason) => place.test(reason))
    ? null
    : `no reason names ${place}: ${reasons.slice(0, 4).join("; ")}`;
}

/** Every file: bits turned at the start, in the middle and at the end, shortened, lengthened, gone, a link, and another file's bytes. */
async function byteMutations(side: Condition, dir: string): Promise<Mutation[]> {
  const files = await filesOf(dir);
  const contents = await Promise.all(files.map((file) => readFile(join(dir, file))));
  return files.flatMap((file, index) => {
    const bytes = contents[index] ?? Buffer.alloc(0);
    const other = contents[(index + 1) % files.length] ?? Buffer.alloc(0);
    const hex = /^objects\/sha256\/(..)\/(.*)$/.exec(file);
    const place = hex === null ? new RegExp(file.replace(".", "\\.")) : new RegExp(`${hex[1]}${hex[2]}`);
    const of = (name: string, apply: Mutation["apply"]): Mutation => ({
      name: `${name}: ${side} ${file}`,
      side,
      place,
      apply,
    });
    const write = (changed: Buffer) => async (clone: string) => void (await replaceFile(join(clone, file), changed));
    const flips = [...new Set([Math.floor(bytes.length / 3), bytes.length - 1])].filter(
      (at) => at >= 0 && at < bytes.length,
    );
    return [
      ...flips.map((at) => {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ 1;
        return of("bit turned", write(changed));
      }),
      ...(bytes.length > 0 ? [of("shortened", write(bytes.subarray(0, -1)))] : []),
      of("lengthened", write(Buffer.concat([bytes, Buffer.from("\n")]))),
      of("gone", async (clone) => void (await rm(join(clone, file)))),
      of("a link", async (clone, scratch) => void (await replaceByLink(join(clone, file), join(scratch, "outside")))),
      ...(other.equals(bytes) ? [] : [of("other bytes", write(other))]),
    ];
  });
}

/** Things beside, above and below what belongs into a bundle. */
function pathMutations(side: Condition): Mutation[] {
  const of = (name: string, place: RegExp, apply: (dir: string, scratch: string) => Promise<unknown>): Mutation => ({
    name: `path: ${side} ${name}`,
    side,
    place,
    apply: async (dir, scratch) => void (await apply(dir, scratch)),
  });
  const stranger = digestBytes("a stranger").slice("sha256:".length);
  const shard = `objects/sha256/${stranger.slice(0, 2)}`;
  return [
    of("a file beside the report", /notes\.txt/, (dir) => writeFile(join(dir, "notes.txt"), "x")),
    of("a hidden file", /\.hidden/, (dir) => writeFile(join(dir, ".hidden"), "x")),
    of("a second report", /report\.json\.bak/, (dir) => writeFile(join(dir, "report.json.bak"), "{}")),
    of("a folder beside the report", /extra/, (dir) => mkdir(join(dir, "extra"))),
    of("a link out of the bundle", /escape/, (dir) => symlink("/etc/passwd", join(dir, "escape"))),
    of("an object that nothing refers to", new RegExp(stranger), (dir) =>
      replaceFile(join(dir, shard, stranger.slice(2)), "a stranger"),
    ),
    of("an object in the wrong folder", /objects\/sha256\/00/, (dir) =>
      replaceFile(join(dir, "objects/sha256/00", stranger), "a stranger"),
    ),
    of("a file in the folder of objects", /objects\/loose/, (dir) => replaceFile(join(dir, "objects/loose"), "x")),
    of("a file left among the temporary ones", /objects\/tmp\/left/, (dir) =>
      replaceFile(join(dir, "objects/tmp/left"), "x"),
    ),
    of("a link among the objects", /objects\/sha256\/link/, (dir) => symlink("/etc", join(dir, "objects/sha256/link"))),
    of("the folder of objects as a link", /objects/, async (dir, scratch) => {
      cloneBundle(join(dir, "objects"), join(scratch, "moved"));
      await rm(join(dir, "objects"), { recursive: true });
      await symlink(join(scratch, "moved"), join(dir, "objects"));
    }),
    of("the folder of digests as a link", /objects\/sha256/, async (dir, scratch) => {
      cloneBundle(join(dir, "objects/sha256"), join(scratch, "moved"));
      await rm(join(dir, "objects/sha256"), { recursive: true });
      await symlink(join(scratch, "moved"), join(dir, "objects/sha256"));
    }),
    of("no objects at all", /object/, (dir) => rm(join(dir, "objects"), { recursive: true })),
    of("the ledger torn in its last line", /ledger\.jsonl/, async (dir) => {
      const bytes = await readFile(join(dir, BUNDLE.ledger));
      await replaceFile(join(dir, BUNDLE.ledger), bytes);
      await truncate(join(dir, BUNDLE.ledger), bytes.length - 20);
    }),
    ...["reversed", "doubled", "rotated"].map((how) =>
      of(`the ledger's lines ${how}`, /ledger\.jsonl/, async (dir) => {
        const lines = (await readFile(join(dir, BUNDLE.ledger), "utf8")).trimEnd().split("\n");
        const [first = "", ...rest] = lines;
        const changed =
          how === "reversed" ? lines.reverse() : how === "doubled" ? [...lines, ...lines] : [...rest, first];
        await replaceFile(join(dir, BUNDLE.ledger), `${changed.join("\n")}\n`);
      }),
    ),
  ];
}

/** The root document written otherwise, under the anchor of its new bytes. */
function rawMutations(side: Condition): Mutation[] {
  const of = (name: string, place: RegExp, change: (text: string) => string | Buffer): Mutation => ({
    name: `root document, new anchor: ${side} ${name}`,
    side,
    place,
    apply: async (dir) => {
      const before = await readFile(join(dir, BUNDLE.report), "utf8");
      const bytes = Buffer.from(change(before));
      if (bytes.equals(Buffer.from(before))) throw new Error(`${name} changes nothing`);
      await replaceFile(join(dir, BUNDLE.report), bytes);
      return digestBytes(bytes);
    },
  });
  const edited = (change: (report: { [key: string]: unknown }) => void) => (text: string) => {
    const report = JSON.parse(text);
    change(report);
    return canonicalBytes(report);
  };
  const ref = (digest: string) =>
    edited((report) => {
      report.rows = { digest, size: 1 };
    });
  const members = ["schemaVersion", "kind", "runId", "condition", "causalClaimAuthorized", "order", "plan", "ledger"];
  return [
    of("a duplicate key", /report\.json/, (text) => text.replace("{", '{"kind":"run",')),
    of("a duplicate key inside", /report\.json/, (text) => text.replace('"ledger":{', '"ledger":{"size":0,')),
    of("a duplicate key in another spelling", /report\.json/, (text) => text.replace("{", '{"k\\u0069nd":"run",')),
    of("space between members", /report\.json/, (text) => text.replace(",", ", ")),
    of("a line break at the end", /report\.json/, (text) => `${text}\n`),
    of("a byte order mark", /report\.json/, (text) => `\ufeff${text}`),
    of("text after its end", /report\.json/, (text) => `${text}{}`),
    of("a number written otherwise", /report\.json/, (text) => text.replace(/"size":(\d+)/, '"size":$1.0')),
    of("an integer beyond 2^53", /report\.json|beyond|integer/i, (text) =>
      text.replace(/"size":\d+/, '"size":9007199254740993'),
    ),
    of("NaN", /report\.json/, (text) => text.replace(/"size":\d+/, '"size":NaN')),
    of("bytes that are no UTF-8", /report\.json/, (text) =>
      Buffer.concat([Buffer.from(text.slice(0, -1)), Buffer.from([0xff, 0x7d])]),
    ),
    of("an empty document", /report\.json|kind/, () => "{}"),
    of("a list", /report\.json|kind/, () => "[]"),
    of("nothing", /report\.json/, () => ""),
    of(
      "a member that is not known",
      /report\.json/,
      edited((report) => {
        report.note = "fine";
      }),
    ),
    of(
      "another kind",
      /oracle|report\.json/,
      edited((report) => {
        report.kind = "oracle";
      }),
    ),
    of(
      "a kind that is none",
      /kind|report\.json/,
      edited((report) => {
        report.kind = "summary";
      }),
    ),
    of(
      "a causal claim",
      /causalClaimAuthorized/,
      edited((report) => {
        report.causalClaimAuthorized = true;
      }),
    ),
    ...members.map((name) =>
      of(
        `without ${name}`,
        new RegExp(`${name}|report\\.json`),
        edited((report) => void delete report[name]),
      ),
    ),
    of("a digest with `..`", /rows/, ref(`sha256:${"../".repeat(21)}x`)),
    of("an absolute path for a digest", /rows/, ref("/etc/passwd")),
    of("a digest in upper case", /rows/, ref(`sha256:${"A".repeat(64)}`)),
    of("a digest without its name", /rows/, ref("a".repeat(64))),
    of("a digest of nothing that is there", /object sha256:aaaa/, ref(`sha256:${"a".repeat(64)}`)),
    of(
      "a size that is not the object's",
      /bytes/,
      edited((report) => {
        const plan = report.plan as { size: number };
        plan.size += 1;
      }),
    ),
    of(
      "a negative size",
      /rows/,
      edited((report) => {
        report.rows = { ...(report.rows as object), size: -1 };
      }),
    ),
  ];
}
