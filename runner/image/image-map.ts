import { RunnerError } from "../base/errors.ts";

/** Replaces one base image reference by another: `--image-map FROM=TO`. */
export interface ImageMap {
  readonly from: string;
  readonly to: string;
}

/** A replacement that took place, for the evidence. */
export interface ReplacedImage {
  /** As the task spells it, variables filled in. */
  readonly from: string;
  readonly to: string;
}

const REFERENCE = /^[A-Za-z0-9][A-Za-z0-9._/:@-]*\*?$|^\*$/;

/**
 * Reads `FROM=TO` options.
 * @throws RunnerError `IMAGE_MAP_INVALID`, also when one FROM has two TOs.
 */
export function parseImageMaps(values: readonly string[]): ImageMap[] {
  const seen = new Map<string, string>();
  for (const value of values) {
    const parts = value.split("=");
    const [from, to] = parts;
    if (
      parts.length !== 2 ||
      from === undefined ||
      to === undefined ||
      !REFERENCE.test(from) ||
      !REFERENCE.test(to) ||
      to.endsWith("*")
    ) {
      throw invalid(`expected FROM=TO with two image references, got "${value}"`);
    }
    const other = seen.get(from);
    if (other !== undefined && other !== to) throw invalid(`"${from}" is mapped to both "${other}" and "${to}"`);
    seen.set(from, to);
  }
  return [...seen].map(([from, to]) => ({ from, to }));
}

/**
 * What a reference is replaced by; undefined when no map names it. The first map that fits counts. A FROM without tag fits every tag,
 * one without digest fits every digest, one that ends in `*` fits every reference that starts so; short and full names are the same.
 */
export function mapImage(reference: string, maps: readonly ImageMap[]): string | undefined {
  return maps.find((map) => fits(reference, map.from))?.to;
}

function fits(reference: string, from: string): boolean {
  if (from.endsWith("*")) {
    const start = from.slice(0, -1);
    return reference.startsWith(start) || fullName(reference).startsWith(start);
  }
  const [wanted, seen] = [split(from), split(reference)];
  return (
    wanted.name === seen.name &&
    (wanted.tag === undefined || wanted.tag === (seen.tag ?? (seen.digest === undefined ? "latest" : undefined))) &&
    (wanted.digest === undefined || wanted.digest === seen.digest)
  );
}

interface Reference {
  readonly name: string;
  readonly tag: string | undefined;
  readonly digest: string | undefined;
}

/** The parts of a reference, the name spelled in full. */
function split(reference: string): Reference {
  const [rest = "", digest] = reference.split("@");
  const slash = rest.lastIndexOf("/");
  const colon = rest.indexOf(":", slash + 1);
  const name = colon === -1 ? rest : rest.slice(0, colon);
  return { name: fullName(name), tag: colon === -1 ? undefined : rest.slice(colon + 1), digest };
}

function fullName(name: string): string {
  const host = name.split("/")[0] ?? "";
  if (name.includes("/") && (host.includes(".") || host.includes(":") || host === "localhost")) return name;
  return name.includes("/") ? `docker.io/${name}` : `docker.io/library/${name}`;
}

function invalid(problem: string): RunnerError {
  return new RunnerError("usage", "IMAGE_MAP_INVALID", `--image-map: ${problem}`, {
    hint: "Example: --image-map python:3.12-slim=jacobian-runner/workbench.",
  });
}
