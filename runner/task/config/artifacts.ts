import type { ArtifactSpec, CollectHook } from "../model.ts";
import type { ConfigContext, TableReader } from "./table.ts";
import { readDuration, readUser } from "./values.ts";

/** Harbor's implicit artifact of the main service. */
export const IMPLICIT_ARTIFACT: ArtifactSpec = {
  source: "/logs/artifacts",
  destination: null,
  exclude: [],
  service: "main",
  implicit: true,
};

/** Reads a list of artifacts: strings, or tables with `source`, `destination`, `exclude` and `service`. */
export function readArtifacts(table: TableReader): readonly ArtifactSpec[] {
  return table.tables("artifacts").flatMap((entry) => {
    const spec =
      typeof entry === "string" ? { ...IMPLICIT_ARTIFACT, source: entry, implicit: false } : readTable(entry);
    const reason = spec === null ? null : refuse(spec);
    if (spec === null) return [];
    if (reason !== null) {
      (typeof entry === "string" ? table : entry).fail(typeof entry === "string" ? "artifacts" : null, reason);
      return [];
    }
    return [{ ...spec, source: trimSlashes(spec.source) }];
  });
}

function readTable(table: TableReader): ArtifactSpec | null {
  const source = table.string("source");
  if (source === null && !table.has("source")) table.fail(null, "an artifact needs a source");
  const spec = {
    source: source ?? "",
    destination: table.string("destination"),
    exclude: table.strings("exclude") ?? [],
    service: table.string("service") ?? "main",
    implicit: false,
  };
  table.finish();
  return source === null ? null : spec;
}

function refuse(spec: ArtifactSpec): string | null {
  const quoted = JSON.stringify(spec.source);
  if (spec.source.trim() === "" || spec.source.includes("\0"))
    return `the artifact source ${quoted} is empty or holds NUL`;
  if (spec.source.split("/").includes("..")) return `the artifact source ${quoted} goes up with ".."`;
  if (spec.service === "") return "the artifact's service is empty";
  if (spec.service !== "main" && !spec.source.startsWith("/")) {
    return `the artifact source ${quoted} of the service ${JSON.stringify(spec.service)} must be absolute`;
  }
  return spec.destination === null ? null : refuseDestination(spec.destination);
}

function refuseDestination(destination: string): string | null {
  const quoted = JSON.stringify(destination);
  if (destination.trim() === "" || destination.includes("\0")) return `the destination ${quoted} is empty or holds NUL`;
  if (destination.includes("\\")) return `the destination ${quoted} holds a backslash; write forward slashes`;
  if (destination.startsWith("/") || /^[A-Za-z]:/.test(destination))
    return `the destination ${quoted} must be relative`;
  if (destination.split("/").includes("..")) return `the destination ${quoted} goes up with ".."`;
  if (destination.replace(/^(?:\.\/)+/, "") === "manifest.json")
    return "the destination manifest.json is the collector's own";
  return null;
}

function trimSlashes(path: string): string {
  const trimmed = path.replaceAll(/\/{2,}/g, "/").replace(/\/+$/, "");
  return trimmed === "" ? "/" : trimmed;
}

/** Joins lists in order with the implicit one first; the first claimant of a source wins and an overlap is reported. */
export function mergeArtifacts(
  context: ConfigContext,
  lists: readonly (readonly ArtifactSpec[])[],
): readonly ArtifactSpec[] {
  const merged: ArtifactSpec[] = [IMPLICIT_ARTIFACT];
  for (const spec of lists.flat()) {
    const same = merged.findIndex((other) => other.source === spec.source && other.service === spec.service);
    const first = merged[same];
    if (first?.implicit === true) {
      merged[same] = spec;
      continue;
    }
    const overlap = merged.find((other) => !other.implicit && overlaps(other, spec));
    if (overlap !== undefined) {
      context.warnings.push({
        code: "ARTIFACT_OVERLAP",
        file: context.file,
        line: context.document.place(["artifacts"])?.line ?? null,
        subject: spec.source,
        message: `the artifact ${spec.source} overlaps ${overlap.source}; the first one takes the files both name`,
      });
    }
    if (same === -1) merged.push(spec);
  }
  return merged;
}

function overlaps(one: ArtifactSpec, other: ArtifactSpec): boolean {
  if (one.service !== other.service) return false;
  const inside = (a: string, b: string): boolean => a === b || a.startsWith(b === "/" ? "/" : `${b}/`);
  return inside(one.source, other.source) || inside(other.source, one.source);
}

/** Reads `[verifier].collect`. */
export function readCollectHooks(table: TableReader): readonly CollectHook[] {
  return table.tables("collect").flatMap((entry) => {
    if (typeof entry === "string") {
      table.fail("collect", `expected a table with a command, got ${JSON.stringify(entry)}`);
      return [];
    }
    const command = entry.string("command");
    if (command === null && !entry.has("command")) entry.fail(null, "a collect hook needs a command");
    const hook = {
      command: command ?? "",
      service: entry.string("service") ?? "main",
      timeoutMicros: readDuration(entry, "timeout_sec", 60, "positive"),
      user: readUser(entry),
    };
    entry.finish();
    return command === null ? [] : [hook];
  });
}
