import type { Digest } from "../base/digest.ts";

/** Every label of the project starts with this. */
export const LABEL_PREFIX = "dev.jacobian-runner.";
/** Label of an image: its recipe's name. */
export const IMAGE_LABEL = `${LABEL_PREFIX}image`;
/** Label of an image: the digest of everything it was built from. */
export const INPUT_LABEL = `${LABEL_PREFIX}input-digest`;
/** Label of an image: its package list, canonical JSON. */
export const PACKAGES_LABEL = `${LABEL_PREFIX}packages`;
/** Label of a container that exists only to build an image. */
export const ROLE_LABEL = `${LABEL_PREFIX}role`;

const OWN = /^jacobian-runner\/([a-z0-9]+(?:-[a-z0-9]+)*)(?::latest)?$/;

/** The repository of one of our images: `jacobian-runner/<name>`. */
export function repositoryOf(name: string): string {
  return `jacobian-runner/${name}`;
}

/** The tag that names exact inputs: the first 16 hex digits of their digest. */
export function tagOf(inputDigest: Digest): string {
  return inputDigest.slice("sha256:".length, "sha256:".length + 16);
}

/** The image name in a reference such as `jacobian-runner/base` or `jacobian-runner/base:latest`; undefined for every other reference. */
export function ownName(reference: string): string | undefined {
  return OWN.exec(reference)?.[1];
}
