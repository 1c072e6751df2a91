import { z } from "zod";

/** One package inside an image. */
export const packageSchema = z.strictObject({
  kind: z.enum(["deb", "wheel", "npm"]),
  name: z.string().min(1),
  version: z.string().min(1),
});
export type ImagePackage = z.output<typeof packageSchema>;

/** A package whose built version is not the pinned one; null stands for "not there". */
export interface PackageDifference {
  readonly kind: ImagePackage["kind"];
  readonly name: string;
  readonly pinned: string | null;
  readonly built: string | null;
}

/** The path of Debian's package state inside an image. */
export const DPKG_STATUS = "var/lib/dpkg/status";

const DIST_INFO = /\/site-packages\/([^/]+)-([^/-]+)\.dist-info\/METADATA$/;

/** The installed packages in a dpkg status file. Foreign architectures keep theirs in the name. */
export function parseDpkgStatus(text: string): ImagePackage[] {
  const packages: ImagePackage[] = [];
  for (const paragraph of text.split(/\n{2,}/)) {
    const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, "m").exec(paragraph)?.[1];
    const [name, version] = [field("Package"), field("Version")];
    if (name === undefined || version === undefined || field("Status") !== "install ok installed") continue;
    packages.push({ kind: "deb", name, version });
  }
  return packages;
}

/** The wheel a path inside an image belongs to, when the path is a wheel's metadata file. */
export function wheelOf(path: string): ImagePackage | undefined {
  const match = DIST_INFO.exec(path);
  if (match?.[1] === undefined || match[2] === undefined) return undefined;
  return { kind: "wheel", name: match[1].toLowerCase().replaceAll(/[-_.]+/g, "-"), version: match[2] };
}

const NPM_NOTE = /^\/opt\/agent\/npm\/(.+)@([^@/]+)\.json$/;

/** The npm release that a note in an agent's runtime is about. */
export function npmOf(path: string): ImagePackage | undefined {
  const match = NPM_NOTE.exec(path);
  if (match?.[1] === undefined || match[2] === undefined) return undefined;
  return { kind: "npm", name: match[1].replaceAll("+", "/"), version: match[2] };
}

/** Sorted by kind, then by name. Later entries replace earlier ones of the same kind and name. */
export function mergePackages(...lists: readonly (readonly ImagePackage[])[]): ImagePackage[] {
  const merged = new Map<string, ImagePackage>();
  for (const entry of lists.flat()) merged.set(keyOf(entry), entry);
  return [...merged.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** What was built but differs from the pins, and what was pinned but is not there. */
export function comparePackages(pinned: readonly ImagePackage[], built: readonly ImagePackage[]): PackageDifference[] {
  const pins = new Map(pinned.map((entry) => [keyOf(entry), entry]));
  const found = new Map(built.map((entry) => [keyOf(entry), entry]));
  return [...new Set([...pins.keys(), ...found.keys()])].sort().flatMap((key) => {
    const [pin, seen] = [pins.get(key), found.get(key)];
    const either = pin ?? seen;
    if (either === undefined || pin?.version === seen?.version) return [];
    return [{ kind: either.kind, name: either.name, pinned: pin?.version ?? null, built: seen?.version ?? null }];
  });
}

/** A difference as a line for people. */
export function describeDifference(difference: PackageDifference): string {
  const { name, pinned, built } = difference;
  return `${name}: pinned ${pinned ?? "(not at all)"}, built with ${built ?? "(nothing)"}`;
}

function keyOf(entry: ImagePackage): string {
  return `${entry.kind} ${entry.name}`;
}
