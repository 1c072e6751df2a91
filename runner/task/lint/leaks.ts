import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Task } from "../model.ts";
import type { Found } from "./finding.ts";
import { readGitObjects } from "./git-objects.ts";
import { type Hit, makeScanner, type Needle, needlesOf, type Scanner } from "./needles.ts";
import { isText, type TaskFile } from "./task-files.ts";

/** One regular file of an image's layers. */
export interface ImageFile {
  /** Absolute path in the image. */
  readonly path: string;
  readonly content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** The files of a built task image; each iterable is read once. */
export interface ImageFiles {
  /** Every version of every file in the layers above the base image, whiteouts aside. */
  readonly layers: AsyncIterable<ImageFile>;
  /** The base image's files; lines that it has too are no leak. */
  readonly base: AsyncIterable<ImageFile>;
}

export interface LeakSources {
  readonly files: readonly TaskFile[];
  /** Git folders in the agent-visible half. */
  readonly gitDirs: readonly string[];
  readonly image: ImageFiles | null;
  readonly signal?: AbortSignal;
}

/** What a place gave away. */
interface Leak {
  readonly place: string;
  readonly hit: Hit;
}

const HINT =
  "Take the hidden text out of what the agent can see; a declared public input belongs in metadata.runner.public_inputs.";
const MAX_GUNZIPPED_BYTES = 256 * 1024 * 1024;

/**
 * Looks for lines of hidden files (32 bytes or more, surrounding blanks aside) in everything that the agent can see: the environment's
 * files, step working files, git objects in them, and the layers above the base image with their git objects. Lines that the instruction, a
 * public input, a shared format or the base image has too do not count.
 */
export async function findLeaks(task: Task, sources: LeakSources): Promise<readonly Found[]> {
  const needles = await hiddenNeedles(task, sources.files);
  const scan = makeScanner(needles);
  const found: Found[] = [];
  const leaks: Leak[] = [];
  const note = (place: string, hits: readonly Hit[]): void => void leaks.push(...hits.map((hit) => ({ place, hit })));

  for (const entry of sources.files) {
    if (entry.role !== "environment" && entry.role !== "workdir") continue;
    note(entry.file, await scan([entry.bytes]));
    const inflated = gunzip(entry.bytes);
    if (inflated !== null) note(`${entry.file} (gunzipped)`, await scan([inflated]));
  }
  for (const gitDir of sources.gitDirs) await scanRepository(gitDir, gitDir, scan, note, found, sources.signal);
  if (sources.image !== null) {
    await scanLayers(sources.image.layers, scan, note, found, sources.signal);
    await dropKnown(leaks, sources.image.base);
  }
  return [...found, ...report(leaks)];
}

/** The lines of hidden files that no public text of the task has. */
async function hiddenNeedles(task: Task, files: readonly TaskFile[]): Promise<readonly Needle[]> {
  const declared = new Set(["input.json", "submission_schema.json", ...task.runner.publicInputs]);
  const isPublic = (entry: TaskFile): boolean =>
    entry.role === "formats" || (entry.role === "environment" && declared.has(entry.relative));
  const seen = new Set<string>();
  const needles = files
    .filter((entry) => ["tests", "solution", "traps"].includes(entry.role) && isText(entry.bytes))
    .flatMap((entry) => needlesOf(entry.file, entry.bytes))
    .filter((needle) => {
      const key = needle.bytes.toString("latin1");
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    });
  const publicTexts = [
    ...task.steps.map((step) => Buffer.from(step.instruction)),
    ...files.filter(isPublic).map((entry) => entry.bytes),
  ];
  const scan = makeScanner(needles);
  const known = new Set<Needle>();
  for (const text of publicTexts) for (const hit of await scan([text])) known.add(hit.needle);
  return needles.filter((needle) => !known.has(needle));
}

function gunzip(bytes: Buffer): Buffer | null {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return null;
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_GUNZIPPED_BYTES });
  } catch {
    return null;
  }
}

async function scanRepository(
  gitDir: string,
  label: string,
  scan: Scanner,
  note: (place: string, hits: readonly Hit[]) => void,
  found: Found[],
  signal: AbortSignal | undefined,
): Promise<void> {
  for await (const object of readGitObjects(gitDir, signal)) {
    if ("trouble" in object) {
      found.push({
        level: "error",
        rule: "leak-unscanned",
        file: label,
        line: null,
        message: `git objects could not be searched for hidden text: ${object.trouble}`,
        hint: "Install git where the check runs, or repair or remove the repository.",
      });
    } else note(`${label} ${object.type} ${object.oid}`, await scan([object.bytes]));
  }
}

/** Scans layer files as they stream by; git objects are set aside and inflated afterwards. */
async function scanLayers(
  layers: AsyncIterable<ImageFile>,
  scan: Scanner,
  note: (place: string, hits: readonly Hit[]) => void,
  found: Found[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), "runner-layers-"));
  const repositories = new Map<string, string>();
  try {
    for await (const entry of layers) {
      const match = /^(.*)\/objects\/((?:[0-9a-f]{2}|pack)\/[^/]+)$/.exec(entry.path);
      if (match === null) {
        note(`image:${entry.path}`, await scan(entry.content));
        continue;
      }
      const owner = match[1] ?? "";
      const folder = repositories.get(owner) ?? join(scratch, String(repositories.size));
      repositories.set(owner, folder);
      const target = join(folder, "objects", dirname(match[2] ?? ""), basename(entry.path));
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, entry.content);
    }
    for (const [owner, folder] of repositories)
      await scanRepository(folder, `image:${owner}`, scan, note, found, signal);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Drops the leaks whose line the base image has too. */
async function dropKnown(leaks: Leak[], base: AsyncIterable<ImageFile>): Promise<void> {
  const open = new Set(leaks.map((leak) => leak.hit.needle));
  if (open.size === 0) return;
  const scan = makeScanner([...open]);
  for await (const entry of base) {
    for (const hit of await scan(entry.content)) open.delete(hit.needle);
    if (open.size === 0) break;
  }
  leaks.splice(0, leaks.length, ...leaks.filter((leak) => open.has(leak.hit.needle)));
}

/** One finding for each place and hidden file, with the number of lines. */
function report(leaks: readonly Leak[]): readonly Found[] {
  const groups = new Map<string, Leak[]>();
  for (const leak of leaks) {
    const key = JSON.stringify([leak.place, leak.hit.needle.file]);
    groups.set(key, [...(groups.get(key) ?? []), leak]);
  }
  return [...groups.values()].map((group): Found => {
    const [first] = [...group].sort((a, b) => a.hit.line - b.hit.line);
    if (first === undefined) throw new RangeError("a group of leaks is never empty");
    const { needle, line } = first.hit;
    const text = needle.bytes.toString("utf8");
    const quoted = JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text);
    const more = group.length > 1 ? ` (and ${group.length - 1} more of its lines)` : "";
    return {
      level: "error",
      rule: "leak",
      file: first.place,
      line,
      message: `line ${needle.line} of the hidden file ${needle.file} stands here: ${quoted}${more}`,
      hint: HINT,
    };
  });
}
