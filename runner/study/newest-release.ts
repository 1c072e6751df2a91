import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { z } from "zod";
import type { ModelAgent } from "../agent/model-agent.ts";
import type { Digest } from "../base/digest.ts";
import { messageOf, RunnerError } from "../base/errors.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import type { Engine } from "../docker/engine.ts";
import type { Labels } from "../docker/ownership.ts";
import { buildImages } from "../image/build-images.ts";

const viewSchema = z.strictObject({ version: z.string(), "dist.integrity": z.string() });
const lockSchema = z.looseObject({
  releases: z.array(z.looseObject({ name: z.string(), version: z.string(), integrity: z.string() })),
});

export interface NewestOptions {
  readonly engine: Engine;
  readonly projectRoot: string;
  readonly agent: ModelAgent;
  readonly labels: Labels;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly report: (line: string) => void;
  readonly signal: AbortSignal;
}

/** The newest release of an agent, with its runtime built from it; null when the pinned one is the newest. */
export interface NewestAgent {
  readonly agent: ModelAgent;
  readonly image: Digest;
  /** The archives it is made from, each as `name@version integrity`: what a lock of it says. */
  readonly releases: readonly string[];
}

/**
 * Asks npm for the newest release of an agent and builds its runtime from it as the recipe says, apart from the project's own images.
 * @throws RunnerError `NPM_FAILED`, and as the image's build fails.
 */
export async function buildNewest(options: NewestOptions): Promise<NewestAgent | null> {
  const { agent, engine, projectRoot, signal, env, report, labels } = options;
  if (agent.npm === null) return null;
  const { version: pinned } = agent.npm;
  const { version } = await npmView(agent.npm.package, options);
  if (version === pinned) return null;
  report(`${agent.name}: ${version} is the newest release; ${pinned} is pinned`);
  const folder = await mkdtemp(join(tmpdir(), "runner-newest-"));
  try {
    await cp(join(projectRoot, "images"), join(folder, "images"), { recursive: true });
    const source = join(folder, "images", agent.runtimeImage, "npm.lock.json");
    const lock = parseInput<z.output<typeof lockSchema>>(
      lockSchema,
      parseStrictJson(await readFile(source), { source }),
      source,
    );
    for (const release of lock.releases) {
      if (!release.version.startsWith(pinned)) continue;
      const wanted = `${release.name}@${version}${release.version.slice(pinned.length)}`;
      const found = await npmView(wanted, options);
      release.version = found.version;
      release.integrity = found["dist.integrity"];
    }
    await writeFile(source, JSON.stringify(lock));
    const { images } = await buildImages({
      docker: engine.docker,
      projectRoot: folder,
      names: [agent.runtimeImage],
      labels,
      report,
      env,
      signal,
    });
    const image = images[agent.runtimeImage]?.imageId;
    if (image === undefined) throw new Error(`${agent.runtimeImage} was not built`);
    const releases = lock.releases.map(({ name, version: of, integrity }) => `${name}@${of} ${integrity}`);
    return { releases, agent: { ...agent, version, npm: { package: agent.npm.package, version } }, image };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function npmView(name: string, { env, signal }: NewestOptions): Promise<z.output<typeof viewSchema>> {
  const args = ["view", "--json", name, "version", "dist.integrity"];
  try {
    const { stdout } = await execa("npm", args, { env, cancelSignal: signal, timeout: 120_000 });
    const source = `npm ${args.join(" ")}`;
    return parseInput<z.output<typeof viewSchema>>(viewSchema, parseStrictJson(stdout, { source }), source);
  } catch (thrown) {
    signal.throwIfAborted();
    throw new RunnerError("environment", "NPM_FAILED", `npm does not tell the newest ${name}: ${messageOf(thrown)}`, {
      hint: "Check that npm is installed and that its registry can be reached.",
      cause: thrown,
    });
  }
}
