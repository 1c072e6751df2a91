import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type Docker from "dockerode";
import { digestBytes } from "../base/digest.ts";
import { makeDirectory } from "../base/durable.ts";
import { imageConfig } from "./archive.ts";
import { inspectOwn } from "./find-built.ts";
import type { HostCa } from "./host-ca.ts";
import { loadImage } from "./load-image.ts";
import { IMAGE_LABEL, INPUT_LABEL, PACKAGES_LABEL, repositoryOf, tagOf } from "./names.ts";
import { fileEntry } from "./tar-entries.ts";
import { writeLayer } from "./write-layer.ts";

/** Where a build finds the certificate bundle while its commands run. */
export const CA_PATH = "/.jacobian-runner/ca.pem";

const VARIABLES = [
  "SSL_CERT_FILE",
  "CURL_CA_BUNDLE",
  "REQUESTS_CA_BUNDLE",
  "PIP_CERT",
  "NODE_EXTRA_CA_CERTS",
  "GIT_SSL_CAINFO",
  "CARGO_HTTP_CAINFO",
];

/**
 * An image that holds nothing but the host's certificate bundle, so that a build can copy it in without a file more in its context.
 * @returns The reference to copy from.
 */
export async function ensureCaImage(docker: Docker, hostCa: HostCa, stateFolder: string): Promise<string> {
  const content = Buffer.from(hostCa.bundlePem, "utf8");
  const inputDigest = digestBytes(content);
  const tag = `${repositoryOf("host-ca")}:${tagOf(inputDigest)}`;
  if ((await inspectOwn(docker, tag))?.inputDigest === inputDigest) return tag;
  const cache = join(stateFolder, "cache");
  await makeDirectory(cache);
  const workFolder = await mkdtemp(join(cache, "host-ca-"));
  try {
    const layer = await writeLayer(join(workFolder, "layer.tar"), single(content));
    const settings = { env: {}, entrypoint: null, cmd: ["/none"], workdir: null, user: null };
    const labels = { [IMAGE_LABEL]: "host-ca", [INPUT_LABEL]: inputDigest, [PACKAGES_LABEL]: "[]" };
    const config = imageConfig("host-ca", settings, [layer.diffId], labels);
    await loadImage(docker, { config, layers: [layer], tags: [tag], parentId: null, workFolder });
  } finally {
    await rm(workFolder, { recursive: true, force: true });
  }
  return tag;
}

async function* single(content: Buffer): AsyncGenerator<ReturnType<typeof fileEntry>> {
  yield fileEntry("ca.pem", content, 0o644);
}

/**
 * Lines for below a FROM: the bundle, and the variables that make programs use it. The variables are build arguments, which a finished
 * image does not keep.
 */
export function caLines(reference: string): string[] {
  return [`COPY --from=${reference} /ca.pem ${CA_PATH}`, ...VARIABLES.map((name) => `ARG ${name}=${CA_PATH}`)];
}
