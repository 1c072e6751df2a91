import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { messageOf, RunnerError } from "../base/errors.ts";
import { buildError } from "./build-errors.ts";
import { type DebianMirrors, sourceLines } from "./build-kit.ts";
import { installPackages } from "./host-packages.ts";
import type { ImagePackage } from "./packages.ts";
import { aptPreferences } from "./pins.ts";
import type { DebianRecipe } from "./recipe.ts";
import { belongsToImage } from "./select-entries.ts";
import { contentOf, fileEntry, type LayerEntry, readTar } from "./tar-entries.ts";
import { SOURCE_EPOCH } from "./write-layer.ts";

export interface BootstrapRequest {
  readonly recipe: DebianRecipe;
  readonly pinned: readonly ImagePackage[];
  readonly mirrors: DebianMirrors | null;
  readonly workFolder: string;
  readonly report: (line: string) => void;
  readonly signal?: AbortSignal;
}

/** What the runner leaves out of every Debian installation: pages and translations that no program reads. */
const DPKG_OPTIONS = [
  "path-exclude=/usr/share/man/*",
  "path-exclude=/usr/share/doc/*",
  "path-include=/usr/share/doc/*/copyright",
  "path-exclude=/usr/share/locale/*",
];
/** The sources that the bootstrap used, which are the image's own too. */
const SOURCE_LIST = "etc/apt/sources.list";
/** What only the bootstrap needed. */
const SETTINGS = /^etc\/apt\/(?:sources\.list\.d\/.*|preferences\.d\/.*|apt\.conf\.d\/99mmdebstrap)$/;

/**
 * A Debian root file system from packages alone, as entries whose bytes depend only on the packages. mmdebstrap does the work; it is
 * installed when it is missing.
 * @throws RunnerError `TOOL_MISSING`, `PACKAGE_INDEX_UNREACHABLE`, `DISK_FULL` or `BUILD_FAILED`.
 */
export async function* bootstrapDebian(request: BootstrapRequest): AsyncGenerator<LayerEntry> {
  const { recipe } = request;
  await installPackages(["mmdebstrap"], "mmdebstrap", request);
  const folder = await mkdtemp(join(request.workFolder, "bootstrap-"));
  try {
    const preferences = join(folder, "pins");
    await writeFile(preferences, aptPreferences(request.pinned));
    const child = execa("mmdebstrap", bootstrapArguments(recipe, preferences, request.mirrors), {
      buffer: false,
      stdin: "ignore",
      reject: false,
      env: { SOURCE_DATE_EPOCH: String(SOURCE_EPOCH), LC_ALL: "C.UTF-8" },
      ...(request.signal === undefined ? {} : { cancelSignal: request.signal }),
      forceKillAfterDelay: 10_000,
    });
    const log: string[] = [];
    const reading = (async (): Promise<void> => {
      for await (const line of child.iterable({ from: "stderr" })) {
        log.push(String(line));
        if (log.length > 200) log.shift();
      }
    })();
    let broken: unknown;
    let taken = false;
    try {
      yield* imageEntries(readTar(child.stdout));
      taken = true;
    } catch (thrown) {
      broken = thrown;
    } finally {
      // Also where the consumer stops early: nobody reads the archive any more, and the program would wait for ever.
      if (!taken) {
        child.kill();
        await child;
      }
    }
    const [result] = await Promise.all([child, reading]);
    if (result.isCanceled)
      throw new RunnerError("interrupted", "INTERRUPTED", `building ${recipe.name} was interrupted`);
    if (result.failed || broken !== undefined) {
      const message = result.failed
        ? `mmdebstrap ended with ${result.exitCode ?? result.signal ?? "an error"}`
        : messageOf(broken);
      throw buildError({ what: `building ${recipe.name}`, log, message, cause: broken, network: true });
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function bootstrapArguments(recipe: DebianRecipe, preferences: string, mirrors: DebianMirrors | null): string[] {
  return [
    "--variant=minbase",
    "--format=tar",
    `--include=${recipe.packages.join(",")}`,
    ...DPKG_OPTIONS.map((option) => `--dpkgopt=${option}`),
    `--setup-hook=mkdir -p "$1/etc/apt/preferences.d" && cp ${quote(preferences)} "$1/etc/apt/preferences.d/pins"`,
    '--customize-hook=rm -f "$1/etc/apt/preferences.d/pins"',
    recipe.suite,
    "-",
    ...(mirrors === null ? [] : sourceLines(recipe.suite, mirrors)),
  ];
}

async function* imageEntries(entries: AsyncIterable<LayerEntry>): AsyncGenerator<LayerEntry> {
  let sources: LayerEntry | undefined;
  for await (const entry of entries) {
    if (entry.path === SOURCE_LIST) sources = fileEntry(entry.path, await contentOf(entry), 0o644);
    else if (belongsToImage(entry.path) && !SETTINGS.test(entry.path)) yield entry;
  }
  if (sources !== undefined) yield sources;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
