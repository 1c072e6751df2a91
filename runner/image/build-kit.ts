import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { RunnerError } from "../base/errors.ts";
import { listTree } from "../base/tree-digest.ts";
import type { HostCa } from "./host-ca.ts";
import type { ImagePackage } from "./packages.ts";
import { aptPreferences } from "./pins.ts";
import { KIT } from "./select-entries.ts";
import { directoryEntry, fileEntry, type LayerEntry } from "./tar-entries.ts";
import { SOURCE_EPOCH } from "./write-layer.ts";

/** Where Debian packages come from. */
export interface DebianMirrors {
  readonly main: string;
  readonly security: string;
}

/**
 * The mirrors that RUNNER_DEBIAN_MIRROR and RUNNER_DEBIAN_SECURITY_MIRROR name; null for Debian's own, which its tools know.
 * @throws RunnerError `MIRROR_INCOMPLETE` when only one of the two is named.
 */
export function debianMirrors(env: Readonly<Record<string, string | undefined>>): DebianMirrors | null {
  const { RUNNER_DEBIAN_MIRROR: main = "", RUNNER_DEBIAN_SECURITY_MIRROR: security = "" } = env;
  if (main === "" && security === "") return null;
  if (main !== "" && security !== "") return { main, security };
  throw new RunnerError(
    "environment",
    "MIRROR_INCOMPLETE",
    "expected both RUNNER_DEBIAN_MIRROR and RUNNER_DEBIAN_SECURITY_MIRROR, or neither",
    { hint: "Name the mirror of Debian and the mirror of its security updates." },
  );
}

/** The three sources of a Debian release, one a line. */
export function sourceLines(suite: string, mirrors: DebianMirrors): string[] {
  return [
    `deb ${mirrors.main} ${suite} main`,
    `deb ${mirrors.main} ${suite}-updates main`,
    `deb ${mirrors.security} ${suite}-security main`,
  ];
}

export interface BuildKit {
  readonly entries: readonly LayerEntry[];
  readonly env: Readonly<Record<string, string>>;
}

export interface BuildKitRequest {
  /** The recipe's folder on the host. */
  readonly recipeFolder: string;
  /** Other files that the script uses, by absolute path on the host. */
  readonly uses?: readonly string[];
  readonly suite: string;
  /** null: those that the image itself names. */
  readonly mirrors: DebianMirrors | null;
  readonly hostCa: HostCa | null;
  readonly pinned: readonly ImagePackage[];
  /** The host's environment: proxies and package-index settings are passed on from it. */
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
}

const PASSED = [
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "ALL_PROXY",
  "PIP_INDEX_URL",
  "PIP_EXTRA_INDEX_URL",
  "PIP_DEFAULT_TIMEOUT",
  "NPM_CONFIG_REGISTRY",
];

/** The proxy and index variables of the host that a build needs, in both spellings where they have two. */
export function passedVariables(hostEnv: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const names = PASSED.flatMap((name) => (name.endsWith("_PROXY") ? [name, name.toLowerCase()] : [name]));
  return Object.fromEntries(names.flatMap((name) => (hostEnv[name] === undefined ? [] : [[name, hostEnv[name]]])));
}

/**
 * What a build script gets besides the image it runs in: the recipe's folder, apt and certificate settings. It all stands in one
 * folder that never becomes part of an image, so neither the host's private CA nor its mirrors end up in one.
 */
export async function buildKit(request: BuildKitRequest): Promise<BuildKit> {
  const at = (path: string): string => `${KIT}/${path}`;
  const text = (path: string, content: string): LayerEntry => fileEntry(at(path), Buffer.from(content), 0o644);
  const certificate = `/${at("ca.pem")}`;
  const settings = [
    'Acquire::Languages "none";',
    ...(request.mirrors === null
      ? []
      : [`Dir::Etc::SourceList "/${at("sources.list")}";`, `Dir::Etc::SourceParts "/${at("none")}";`]),
    `Dir::Etc::Preferences "/${at("preferences")}";`,
    `Dir::Etc::PreferencesParts "/${at("none")}";`,
    ...(request.hostCa === null ? [] : [`Acquire::https::CAInfo "${certificate}";`]),
  ];
  const files = (await listTree(request.recipeFolder)).filter((entry) => entry.type === "file");
  const recipe = await Promise.all(
    files.map(async (file) =>
      fileEntry(at(`recipe/${file.path}`), await readFile(join(request.recipeFolder, file.path)), 0o644),
    ),
  );
  const uses = await Promise.all(
    (request.uses ?? []).map(async (path) => fileEntry(at(`uses/${basename(path)}`), await readFile(path), 0o644)),
  );
  const trust = [
    "SSL_CERT_FILE",
    "PIP_CERT",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "GIT_SSL_CAINFO",
  ];
  return {
    entries: [
      ...["", "none", "out", "home", "recipe", "uses"].map((folder) =>
        directoryEntry(folder === "" ? KIT : at(folder)),
      ),
      text("apt.conf", `${settings.join("\n")}\n`),
      ...(request.mirrors === null
        ? []
        : [text("sources.list", `${sourceLines(request.suite, request.mirrors).join("\n")}\n`)]),
      text("preferences", aptPreferences(request.pinned)),
      ...(request.hostCa === null ? [] : [text("ca.pem", request.hostCa.bundlePem)]),
      ...recipe,
      ...uses,
    ],
    env: {
      KIT: `/${KIT}`,
      HOME: `/${at("home")}`,
      APT_CONFIG: `/${at("apt.conf")}`,
      DEBIAN_FRONTEND: "noninteractive",
      LC_ALL: "C.UTF-8",
      SOURCE_DATE_EPOCH: String(SOURCE_EPOCH),
      PYTHONHASHSEED: "0",
      ...passedVariables(request.hostEnv),
      ...(request.hostCa === null ? {} : Object.fromEntries(trust.map((name) => [name, certificate]))),
    },
  };
}
