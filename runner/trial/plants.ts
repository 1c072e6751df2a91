import { buffer } from "node:stream/consumers";
import type { AmbientPaths } from "../agent/model-agent.ts";
import { readArchive } from "../docker/archive/read.ts";
import type { Container } from "../docker/container.ts";
import { TrialFailure } from "./failure.ts";

/** Where plants are looked for. */
export interface PlantScope {
  readonly workdir: string;
  /** Whom the agent runs as, by the task or else by the image: a name or a number, with or without a group; null for root. */
  readonly user: string | null;
  /** `NAME=value` lines of the image. */
  readonly env: readonly string[];
}

const PASSWD = "/etc/passwd";
const PASSWD_LIMITS = { entries: 1, fileBytes: 1024 * 1024, totalBytes: 1024 * 1024 };

/**
 * Holds that nothing is where the agent's home is going to be: what an image had put there would be the agent's own settings.
 * @throws TrialFailure `invalid_task` when there is something.
 */
export async function requireFreshHome(
  container: Pick<Container, "exists">,
  home: string,
  signal: AbortSignal,
): Promise<void> {
  if (!(await container.exists(home, { signal }))) return;
  const detail = `the task's image has something at ${home}, where a model-driven agent gets a fresh home: move it elsewhere`;
  throw new TrialFailure("invalid_task", "AGENT_HOME_TAKEN", detail);
}

/**
 * The settings that an image or a task planted for an agent: absolute paths that exist in the container before the agent starts, sorted. They
 * have no effect, which is the agent's launch to see to; they are reported because somebody put them there.
 */
export async function findPlants(
  container: Pick<Container, "exists" | "getArchive">,
  ambient: AmbientPaths,
  scope: PlantScope,
  signal: AbortSignal,
): Promise<string[]> {
  const paths = plantPaths(ambient, scope, isRoot(scope.user) ? "" : await readPasswd(container, signal));
  const found = await Promise.all(
    paths.map(async (path) => ((await container.exists(path, { signal })) ? path : null)),
  );
  return found.filter((path) => path !== null);
}

/** Every path where something could be planted, each once, sorted. `passwd` is the container's list of users. */
export function plantPaths(ambient: AmbientPaths, { workdir, user, env }: PlantScope, passwd: string): string[] {
  const homes = [
    "/root",
    ...(isRoot(user) ? [] : homesOf(nameOf(user), passwd)),
    ...env.flatMap((line) => (line.startsWith("HOME=/") ? [line.slice("HOME=".length)] : [])),
  ];
  const paths = [
    ...homes.flatMap((home) => ambient.home.map((path) => `${home === "/" ? "" : home}/${path}`)),
    ...foldersUpTo(workdir).flatMap((folder) =>
      ambient.project.map((path) => `${folder === "/" ? "" : folder}/${path}`),
    ),
    ...ambient.system,
  ];
  return [...new Set(paths)].sort();
}

/** The user without a group. */
function nameOf(user: string | null): string {
  return user?.split(":", 1)[0] ?? "";
}

function isRoot(user: string | null): boolean {
  return ["", "0", "root"].includes(nameOf(user));
}

/** The home of a user, given by name or number; for a name that the list does not have, where it would be by custom. */
function homesOf(user: string, passwd: string): string[] {
  const homes = passwd.split("\n").flatMap((line) => {
    const [name, , uid, , , home = ""] = line.split(":");
    return (name === user || uid === user) && home.startsWith("/") ? [home] : [];
  });
  return homes.length > 0 || /^[0-9]+$/.test(user) ? homes : [`/home/${user}`];
}

async function readPasswd(container: Pick<Container, "getArchive">, signal: AbortSignal): Promise<string> {
  const archive = await container.getArchive(PASSWD, { signal });
  let text = "";
  if (archive === null) return text;
  await readArchive(archive, {
    ...{ root: PASSWD, limits: PASSWD_LIMITS, signal },
    onEntry: async (entry, body) => {
      if (entry.type === "file" && body !== null) text = (await buffer(body)).toString("utf8");
    },
  });
  return text;
}

/** A folder and those above it. */
function foldersUpTo(folder: string): string[] {
  const names = folder.split("/").filter((name) => name !== "");
  return ["/", ...names.map((_, index) => `/${names.slice(0, index + 1).join("/")}`)];
}
