import type { AmbientPaths } from "../agent/model-agent.ts";
import type { Container } from "../docker/container.ts";

/** Where plants are looked for. */
export interface PlantScope {
  readonly workdir: string;
  /** The user whose settings the image may hold; null for root. */
  readonly user: string | null;
  /** `NAME=value` lines of the image. */
  readonly env: readonly string[];
}

/**
 * The settings that an image or a task planted for an agent: absolute paths that exist in the container before the agent starts, sorted. They
 * have no effect, which is the agent's launch to see to; they are reported because somebody put them there.
 */
export async function findPlants(
  container: Pick<Container, "exists">,
  ambient: AmbientPaths,
  scope: PlantScope,
  signal: AbortSignal,
): Promise<string[]> {
  const paths = plantPaths(ambient, scope);
  const found = await Promise.all(
    paths.map(async (path) => ((await container.exists(path, { signal })) ? path : null)),
  );
  return found.filter((path) => path !== null);
}

/** Every path where something could be planted, each once, sorted. */
export function plantPaths(ambient: AmbientPaths, { workdir, user, env }: PlantScope): string[] {
  const named = user?.split(":", 1)[0] ?? "";
  const homes = [
    "/root",
    ...(named === "" || named === "root" || /^[0-9]+$/.test(named) ? [] : [`/home/${named}`]),
    ...env.flatMap((line) => (line.startsWith("HOME=/") ? [line.slice("HOME=".length)] : [])),
  ];
  const paths = [
    ...homes.flatMap((home) => ambient.home.map((path) => `${home}/${path}`)),
    ...foldersUpTo(workdir).flatMap((folder) =>
      ambient.project.map((path) => `${folder === "/" ? "" : folder}/${path}`),
    ),
    ...ambient.system,
  ];
  return [...new Set(paths)].sort();
}

/** A folder and those above it. */
function foldersUpTo(folder: string): string[] {
  const names = folder.split("/").filter((name) => name !== "");
  return ["/", ...names.map((_, index) => `/${names.slice(0, index + 1).join("/")}`)];
}
