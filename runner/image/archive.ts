import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { canonicalText } from "../base/canonical-json.ts";
import { type Digest, digestBytes } from "../base/digest.ts";
import type { RecipeConfig } from "./recipe.ts";
import { tarStream } from "./tar-writer.ts";
import { type Layer, SOURCE_EPOCH } from "./write-layer.ts";

/** The settings of an image that are not files. */
export interface ImageSettings {
  readonly env: Readonly<Record<string, string>>;
  readonly entrypoint: readonly string[] | null;
  readonly cmd: readonly string[] | null;
  readonly workdir: string | null;
  readonly user: string | null;
}

/** An image's configuration: exact bytes, and their digest, which names the image the same way on every machine. */
export interface ImageConfig {
  readonly bytes: Buffer;
  readonly digest: Digest;
  readonly diffIds: readonly Digest[];
}

const CREATED = new Date(SOURCE_EPOCH * 1000).toISOString();

/** A recipe's settings on top of its parent's. A new entrypoint or command replaces both, as a Dockerfile's does. */
export function mergeSettings(parent: ImageSettings | null, own: RecipeConfig): ImageSettings {
  const replaces = own.entrypoint !== null || own.cmd !== null;
  return {
    env: { ...parent?.env, ...own.env },
    entrypoint: replaces ? own.entrypoint : (parent?.entrypoint ?? null),
    cmd: replaces ? own.cmd : (parent?.cmd ?? null),
    workdir: own.workdir ?? parent?.workdir ?? null,
    user: own.user ?? parent?.user ?? null,
  };
}

/** Writes an image's configuration. */
export function imageConfig(
  name: string,
  settings: ImageSettings,
  diffIds: readonly Digest[],
  labels: Readonly<Record<string, string>>,
): ImageConfig {
  const value = {
    architecture: "amd64",
    os: "linux",
    created: CREATED,
    config: {
      Env: Object.entries(settings.env)
        .map(([key, text]) => `${key}=${text}`)
        .sort(),
      ...(settings.entrypoint === null ? {} : { Entrypoint: settings.entrypoint }),
      ...(settings.cmd === null ? {} : { Cmd: settings.cmd }),
      ...(settings.workdir === null ? {} : { WorkingDir: settings.workdir }),
      ...(settings.user === null ? {} : { User: settings.user }),
      Labels: labels,
    },
    rootfs: { type: "layers", diff_ids: diffIds },
    history: diffIds.map(() => ({ created: CREATED, created_by: `jacobian-runner images build: ${name}` })),
  };
  const bytes = Buffer.from(canonicalText(value), "utf8");
  return { bytes, digest: digestBytes(bytes), diffIds };
}

/**
 * A docker-archive with one image. Layers that are missing from `layers` must be in the engine already; an engine that wants every
 * layer refuses such an archive.
 */
export function imageArchive(config: ImageConfig, layers: readonly Layer[], tags: readonly string[]): Readable {
  const manifest = [
    { Config: `${hex(config.digest)}.json`, RepoTags: tags, Layers: config.diffIds.map((id) => `${hex(id)}.tar`) },
  ];
  const fixed = { mtime: new Date(SOURCE_EPOCH * 1000), mode: 0o644 };
  return tarStream(async (write) => {
    for (const layer of layers) {
      await write({ ...fixed, name: `${hex(layer.diffId)}.tar`, size: layer.bytes }, createReadStream(layer.file));
    }
    await write({ ...fixed, name: `${hex(config.digest)}.json` }, config.bytes);
    await write({ ...fixed, name: "manifest.json" }, Buffer.from(canonicalText(manifest)));
  });
}

function hex(digest: Digest): string {
  return digest.slice("sha256:".length);
}
