import { DPKG_STATUS, type ImagePackage, npmOf, parseDpkgStatus, wheelOf } from "./packages.ts";
import { contentOf, type LayerEntry } from "./tar-entries.ts";

/** Where a build container finds its script and settings; never part of an image. */
export const KIT = ".runner-build";

/** Content of folders that is this machine's or this moment's, never the image's; the folders themselves stay. */
const EMPTIED = [
  "dev",
  "proc",
  "sys",
  "tmp",
  KIT,
  "var/log",
  "var/tmp",
  "var/cache/apt",
  "var/lib/apt/lists",
  "root/.cache",
];
/** Files that the engine, the host or a cache put there. */
const DROPPED = new Set([
  ".dockerenv",
  KIT,
  "etc/hostname",
  "etc/hosts",
  "etc/machine-id",
  "etc/mtab",
  "etc/resolv.conf",
  "root/.cache",
  "var/cache/debconf/config.dat-old",
  "var/cache/debconf/templates.dat-old",
  "var/cache/ldconfig/aux-cache",
  "var/lib/dpkg/diversions-old",
  "var/lib/dpkg/lock",
  "var/lib/dpkg/lock-frontend",
  "var/lib/dpkg/status-old",
]);

/** False for a path that depends on the machine or the moment of the build. */
export function belongsToImage(path: string): boolean {
  if (DROPPED.has(path)) return false;
  return !EMPTIED.some((folder) => path.startsWith(`${folder}/`));
}

/** Passes entries on and collects the packages they show to be installed. */
export async function* watchPackages(
  entries: AsyncIterable<LayerEntry>,
  found: ImagePackage[],
): AsyncGenerator<LayerEntry> {
  for await (const entry of entries) {
    if (entry.type !== "file") {
      yield entry;
      continue;
    }
    const installed = wheelOf(`/${entry.path}`) ?? npmOf(`/${entry.path}`);
    if (installed !== undefined) found.push(installed);
    if (entry.path !== DPKG_STATUS) {
      yield entry;
      continue;
    }
    const content = await contentOf(entry);
    found.push(...parseDpkgStatus(content.toString("utf8")));
    yield { ...entry, body: content };
  }
}
