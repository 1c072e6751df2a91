import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { digestFile } from "../base/digest.ts";
import type { ProofReport } from "./bundle-schema.ts";
import { FILES } from "./request.ts";

/** Everything that is wrong with the files of a bundle: listed ones that differ, and ones that nobody listed. */
export async function fileProblems(dir: string, report: ProofReport): Promise<string[]> {
  const problems = await listedFileProblems(dir, report);
  const listed = new Set(report.files.map(({ path }) => path));
  const present = await readdir(dir, { recursive: true, withFileTypes: true });
  for (const entry of present) {
    const path = join(entry.parentPath, entry.name).slice(dir.length + 1);
    const known = path === FILES.report || path.split("/")[0] === "objects" || listed.has(path);
    if (!entry.isDirectory() && !known) problems.push(`${path}: is in the bundle and not in the report`);
  }
  return problems;
}

/** Everything that is wrong with the files that a report lists. */
export async function listedFileProblems(dir: string, report: Pick<ProofReport, "files">): Promise<string[]> {
  const problems: string[] = [];
  const listed = new Set<string>();
  for (const { path, digest, size } of report.files) {
    if (!isInside(path)) problems.push(`${path}: is no path inside the bundle`);
    else if (listed.has(path)) problems.push(`${path}: is listed twice`);
    else {
      listed.add(path);
      problems.push(...(await oneFile(dir, path, digest, size)));
    }
  }
  return problems;
}

async function oneFile(dir: string, path: string, digest: string, size: number): Promise<string[]> {
  // Each folder on the way must be a folder too, or a link could lead outside.
  const parts = path.split("/");
  for (let depth = 1; depth < parts.length; depth += 1) {
    const folder = parts.slice(0, depth).join("/");
    const info = await lstat(join(dir, folder)).catch(() => undefined);
    if (info?.isDirectory() !== true) return [`${path}: ${folder} is no folder`];
  }
  const info = await lstat(join(dir, path)).catch(() => undefined);
  if (info === undefined) return [`${path}: is missing`];
  if (!info.isFile()) return [`${path}: is no regular file`];
  if (info.size !== size) return [`${path}: has ${info.size} bytes, the report says ${size}`];
  const found = await digestFile(join(dir, path));
  return found === digest ? [] : [`${path}: has digest ${found}, the report says ${digest}`];
}

function isInside(path: string): boolean {
  return (
    !path.startsWith("/") &&
    !path.includes("\\") &&
    path.split("/").every((part) => part !== "" && part !== "." && part !== "..")
  );
}
