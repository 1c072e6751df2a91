import { readFile } from "node:fs/promises";
import type Docker from "dockerode";
import { type Digest, digestJson, isDigest } from "../base/digest.ts";
import { messageOf, RunnerError } from "../base/errors.ts";
import { type BuildContext, contextArchive, readContext } from "./build-context.ts";
import { buildError } from "./build-errors.ts";
import { passedVariables } from "./build-kit.ts";
import { traceLines } from "./buildkit-trace.ts";
import { caLines, ensureCaImage } from "./ca-image.ts";
import { type Dockerfile, needsBuildKit, parseDockerfile } from "./dockerfile.ts";
import { followMessages } from "./engine-stream.ts";
import type { HostCa } from "./host-ca.ts";
import type { ImageMap, ReplacedImage } from "./image-map.ts";
import type { ImagesLock } from "./lock.ts";
import { INPUT_LABEL, repositoryOf } from "./names.ts";
import { type ResolvedImage, resolveImage } from "./resolve-base.ts";
import { type BaseUse, baseUses, type Rewrite, rewriteDockerfile } from "./stages.ts";

/** What a build's commands may reach. */
export type BuildNetwork = "default" | "none" | "host";

export interface BuildTaskImageOptions {
  readonly docker: Docker;
  /** A task's `environment/` or `tests/` folder. */
  readonly contextFolder: string;
  /** Default `Dockerfile`. */
  readonly dockerfileName?: string;
  readonly maps: readonly ImageMap[];
  readonly lock: ImagesLock | undefined;
  readonly network: BuildNetwork;
  /** From `findHostCa`; null when the host has no private authority. */
  readonly hostCa: HostCa | null;
  /** Local state, for temporary files. */
  readonly stateFolder: string;
  /** Added to the image. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly buildArguments?: Readonly<Record<string, string>>;
  /** Ends the build, in milliseconds. */
  readonly timeoutMs: number;
  /** The host's environment: proxy variables are passed on from it. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Receives the build's output, line by line. */
  readonly report?: (line: string) => void;
  readonly signal?: AbortSignal;
}

export interface TaskImage {
  readonly imageId: Digest;
  /** Digest of the context, the Dockerfile as built, the bases' identities, the network and the build arguments. */
  readonly inputDigest: Digest;
  readonly tag: string;
  readonly bases: readonly ResolvedImage[];
  /** What the image map replaced. */
  readonly replaced: readonly ReplacedImage[];
  /** True when the engine had the image already and no build was started. */
  readonly cached: boolean;
  readonly context: BuildContext;
}

/**
 * Builds a task's image, or finds it by its inputs. The same inputs give the same digest on every machine; the id is the engine's.
 * @throws RunnerError for a Dockerfile that cannot be read, a base that cannot be had, a build that fails (`BUILD_FAILED`) or takes too
 * long (`BUILD_TIMEOUT`), a full disk (`DISK_FULL`) or an interruption.
 */
export async function buildTaskImage(options: BuildTaskImageOptions): Promise<TaskImage> {
  const { docker } = options;
  const { dockerfile, source, uses, resolved, known, there } = await identify(options);
  if (there !== undefined) return { ...known, imageId: there, cached: true };
  const text = await preparedDockerfile(options, dockerfile, uses, resolved);
  const labels = { ...options.labels, [INPUT_LABEL]: known.inputDigest };
  await runBuild(options, {
    context: known.context,
    text,
    tag: known.tag,
    labels,
    buildKit: needsBuildKit(dockerfile),
    what: `building ${source}`,
  });
  const imageId = await findByInput(docker, known.tag, known.inputDigest);
  if (imageId !== undefined) return { ...known, imageId, cached: false };
  throw new RunnerError("environment", "BUILD_LOST", `${source} was built, but the engine has no image ${known.tag}`, {
    hint: "See whether something removes images on this machine, then try again.",
  });
}

/** What {@link buildTaskImage} would give, without building anything: the id is null when the engine does not have it. */
export async function findTaskImage(
  options: BuildTaskImageOptions,
): Promise<Pick<TaskImage, "inputDigest" | "replaced"> & { readonly imageId: Digest | null }> {
  const { known, there } = await identify(options);
  return { inputDigest: known.inputDigest, replaced: known.replaced, imageId: there ?? null };
}

async function identify(options: BuildTaskImageOptions) {
  const { docker, contextFolder } = options;
  const context = await readContext(contextFolder, options.dockerfileName);
  const source = `${contextFolder}/${context.dockerfileName}`;
  const dockerfile = parseDockerfile(context.dockerfile);
  const uses = baseUses(dockerfile, source, options.buildArguments ?? {});
  const resolved = new Map<BaseUse, ResolvedImage>();
  for (const use of uses) if (use.external) resolved.set(use, await resolveImage(docker, use.reference, options));
  const bases = [...resolved.values()];
  const inputDigest = digestJson({
    context: context.digest,
    dockerfile: context.dockerfile,
    dockerfileName: context.dockerfileName,
    bases: bases.map(({ reference, replaced, identity }) => ({
      reference,
      replacedBy: replaced?.to ?? null,
      identity,
    })),
    network: options.network,
    buildArguments: options.buildArguments ?? {},
  });
  const tag = `${repositoryOf("task")}:${inputDigest.slice("sha256:".length, "sha256:".length + 32)}`;
  const replaced = bases.flatMap((base) => base.replaced ?? []);
  const known = { inputDigest, tag, bases, replaced, context };
  const there = await findByInput(docker, tag, inputDigest);
  return { dockerfile, source, uses, resolved, known, there };
}

async function findByInput(docker: Docker, tag: string, inputDigest: Digest): Promise<Digest | undefined> {
  try {
    const info = await docker.getImage(tag).inspect();
    return info.Config.Labels?.[INPUT_LABEL] === inputDigest && isDigest(info.Id) ? info.Id : undefined;
  } catch (thrown) {
    if (thrown instanceof Error && "statusCode" in thrown && thrown.statusCode === 404) return undefined;
    throw thrown;
  }
}

async function preparedDockerfile(
  options: BuildTaskImageOptions,
  dockerfile: Dockerfile,
  uses: readonly BaseUse[],
  resolved: ReadonlyMap<BaseUse, ResolvedImage>,
): Promise<string> {
  const { docker, hostCa, network } = options;
  const wantsCa = hostCa !== null && network !== "none" && uses.some((use) => use.kind === "from" && use.runs);
  const after = wantsCa ? caLines(await ensureCaImage(docker, hostCa, options.stateFolder)) : [];
  const rewrites: Rewrite[] = [];
  for (const use of uses) {
    const base = resolved.get(use);
    const reference = base === undefined ? null : await localName(docker, base.imageId);
    rewrites.push({ use, reference, after: use.kind === "from" && use.runs ? after : [] });
  }
  return rewriteDockerfile(dockerfile, rewrites);
}

/** A name for an id: BuildKit takes a bare id for the name of a repository. */
async function localName(docker: Docker, imageId: Digest): Promise<string> {
  const [repo, tag] = [repositoryOf("by-id"), imageId.slice("sha256:".length)];
  await docker.getImage(imageId).tag({ repo, tag });
  return `${repo}:${tag}`;
}

interface Build {
  readonly context: BuildContext;
  readonly text: string;
  readonly tag: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly buildKit: boolean;
  readonly what: string;
}

const KEPT_LINES = 200;

async function runBuild(options: BuildTaskImageOptions, build: Build): Promise<void> {
  const timeout = AbortSignal.timeout(options.timeoutMs);
  const signal = options.signal === undefined ? timeout : AbortSignal.any([options.signal, timeout]);
  const log: string[] = [];
  const say = (line: string): void => {
    log.push(line);
    if (log.length > KEPT_LINES) log.shift();
    options.report?.(line);
  };
  let failed: string | null;
  try {
    signal.throwIfAborted();
    failed = await stream(options, build, signal, say);
  } catch (thrown) {
    failed = messageOf(thrown);
  }
  if (options.signal?.aborted === true)
    throw new RunnerError("interrupted", "INTERRUPTED", `${build.what} was interrupted`);
  if (timeout.aborted) {
    throw new RunnerError("input", "BUILD_TIMEOUT", `${build.what} took longer than ${options.timeoutMs / 1000} s`, {
      hint: "Raise build_timeout_sec in task.toml, or make the build smaller.",
      details: { log: log.slice(-20).join("\n") },
    });
  }
  if (failed !== null)
    throw buildError({ what: build.what, log, message: failed, network: options.network !== "none" });
}

async function stream(
  options: BuildTaskImageOptions,
  build: Build,
  signal: AbortSignal,
  say: (line: string) => void,
): Promise<string | null> {
  const networkMode = await effectiveNetwork(options.network);
  const response = await options.docker.buildImage(contextArchive(build.context, build.text), {
    t: build.tag,
    dockerfile: build.context.dockerfileName,
    networkmode: networkMode,
    platform: "linux/amd64",
    rm: true,
    forcerm: true,
    labels: { ...build.labels },
    buildargs: { ...passedVariables(options.env ?? {}), ...options.buildArguments },
    abortSignal: signal,
    ...(build.buildKit ? { version: "2" as const } : {}),
  });
  const stop = (): void => {
    if ("destroy" in response && typeof response.destroy === "function") response.destroy();
  };
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await followMessages(response, (message) => {
      const words =
        message.id === "moby.buildkit.trace" ? traceLines(message.aux) : (message.stream ?? "").split(/\r?\n/);
      for (const line of words) if (line.trim() !== "") say(line.trimEnd());
    });
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/**
 * The engine gives build containers a public resolver when the host's own is on a loopback address; a resolver that only the host knows
 * then needs the host's network.
 */
async function effectiveNetwork(network: BuildNetwork): Promise<string> {
  if (network !== "default") return network;
  const text = await readFile("/etc/resolv.conf", "utf8").catch(() => "");
  const servers = [...text.matchAll(/^\s*nameserver\s+(\S+)/gm)].map((match) => match[1] ?? "");
  return servers.length > 0 && servers.every((server) => /^127\.|^::1$/.test(server)) ? "host" : "default";
}
