import { X509Certificate } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { rootCertificates } from "node:tls";

import { type Digest, digestBytes } from "../base/digest.ts";

const BLOCK = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;
const DEFAULTS = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];
const VARIABLES = ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"];
/** Where distributions keep the public set, older members included. */
const PUBLIC_FOLDER = "/usr/share/ca-certificates/mozilla";

export interface HostCaSources {
  /** Bundles the host trusts. */
  readonly bundles: readonly string[];
  /** Bundles of public authorities, to be left out. */
  readonly publicCertificates: readonly string[];
}

/** What the host trusts beyond the public authorities. */
export interface HostCa {
  /** The private certificates alone, PEM. */
  readonly privatePem: string;
  /** Public and private together: what a program needs when a variable replaces its whole bundle. */
  readonly bundlePem: string;
}

/**
 * The host's private certificate authorities: those of its bundles (SSL_CERT_FILE, NODE_EXTRA_CA_CERTS, the default places) that are
 * in no public set. Null when there is none.
 */
export async function findHostCa(env: Readonly<Record<string, string | undefined>>): Promise<HostCa | null> {
  const named = VARIABLES.map((variable) => env[variable]).filter((path) => path !== undefined && path !== "");
  const bundles = await readAll([...new Set([...(named as string[]), ...DEFAULTS])]);
  const known = await readdir(PUBLIC_FOLDER).catch(() => []);
  const publicCertificates = await readAll(known.map((name) => join(PUBLIC_FOLDER, name)));
  return privateAuthorities({ bundles, publicCertificates: [...rootCertificates, ...publicCertificates] });
}

/** The pure part of {@link findHostCa}. Blocks that are no certificates are skipped. */
export function privateAuthorities(sources: HostCaSources): HostCa | null {
  const known = new Set(sources.publicCertificates.flatMap(blocks).map(({ fingerprint }) => fingerprint));
  const own = new Map(
    sources.bundles
      .flatMap(blocks)
      .filter(({ fingerprint }) => !known.has(fingerprint))
      // Reading a certificate takes long, and nearly all of a host's are public ones.
      .filter(({ pem }) => isCertificate(pem))
      .map(({ fingerprint, pem }) => [fingerprint, pem]),
  );
  if (own.size === 0) return null;
  const privatePem = [...own.keys()]
    .sort()
    .map((fingerprint) => `${own.get(fingerprint)}\n`)
    .join("");
  return { privatePem, bundlePem: `${rootCertificates.join("\n")}\n${privatePem}` };
}

/** The blocks of a bundle with the digest of what they hold. */
function blocks(text: string): { readonly fingerprint: Digest; readonly pem: string }[] {
  return (text.match(BLOCK) ?? []).map((pem) => ({
    fingerprint: digestBytes(Buffer.from(pem.split("\n").slice(1, -1).join(""), "base64")),
    pem,
  }));
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).fingerprint256 !== "";
  } catch {
    return false;
  }
}

async function readAll(paths: readonly string[]): Promise<string[]> {
  const texts = await Promise.all(paths.map((path) => readFile(path, "utf8").catch(() => "")));
  return texts.filter((text) => text !== "");
}
