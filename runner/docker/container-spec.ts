import type Dockerode from "dockerode";
import { RunnerError } from "../base/errors.ts";
import type { EngineFacts } from "./engine.ts";
import { type HostLimits, type Ulimit, ulimitsOf } from "./ulimits.ts";

/** A place on a network. */
export interface NetworkAttachment {
  readonly id: string;
  /** Names other containers of that network can resolve. */
  readonly aliases?: readonly string[];
}

/** A named volume at a path. */
export interface VolumeMount {
  readonly volume: string;
  readonly target: string;
  readonly readOnly?: boolean;
  /** True keeps the engine from filling an empty volume with the image's content at the target. */
  readonly noCopy?: boolean;
}

export interface ContainerLimits {
  /** Processors, as 0.5; at most what the engine has. */
  readonly cpus?: number;
  /** Memory in bytes; swap adds nothing. */
  readonly memoryBytes?: number;
  /** Processes and threads. */
  readonly pids?: number;
  /** Size of /dev/shm in bytes. */
  readonly shmBytes?: number;
  readonly ulimits?: readonly Ulimit[];
}

/** A container to be made. What is not here cannot be asked for: no privileges, no bind mounts, no published ports, no restart. */
export interface ContainerSpec {
  /** Image id (`sha256:…`): a name could mean another image by the time it is used. */
  readonly image: string;
  /** Replaces the image's entrypoint; an empty list means none. Absent: the image's own. */
  readonly entrypoint?: readonly string[];
  /** Replaces the image's command. */
  readonly command?: readonly string[];
  /** `NAME=value` lines, added to the image's. */
  readonly env?: readonly string[];
  readonly user?: string;
  readonly workdir?: string;
  readonly hostname?: string;
  readonly labels: Readonly<Record<string, string>>;
  /**
   * `none`, or a network. `dns: "closed"` (the default) lets container names resolve and forwards nothing outside; `open` forwards to
   * the host's resolvers, `server` to one on a network of the container's.
   */
  readonly network: "none" | (NetworkAttachment & { readonly dns?: "closed" | "open" | { readonly server: string } });
  /** Further networks, connected before the start. */
  readonly networks?: readonly NetworkAttachment[];
  readonly mounts?: readonly VolumeMount[];
  /** Folders that an empty read-only one takes the place of. */
  readonly masks?: readonly string[];
  readonly limits?: ContainerLimits;
  /** Capabilities kept; all others are dropped. */
  readonly capAdd?: readonly string[];
  /** An init process as PID 1 that reaps orphans. Default true. */
  readonly init?: boolean;
  /** Keeps the main process's stdin open for {@link Container.attach}. Default false. */
  readonly stdin?: boolean;
  readonly readOnlyRootfs?: boolean;
  /** Kernel settings of the container's own namespaces, as `net.ipv4.ip_forward`. */
  readonly sysctls?: Readonly<Record<string, string>>;
  /** `name:address` lines for /etc/hosts. */
  readonly extraHosts?: readonly string[];
}

// Look-ups of outside names go to a port in the container's own namespace where nothing listens, and give up at once: without the
// options a failing look-up takes 20 s, and without the address some engines ask a resolver on the host's loopback.
const CLOSED_DNS = { Dns: ["127.0.0.1"], DnsOptions: ["timeout:1", "attempts:1", "ndots:0"], DnsSearch: ["."] };

/** The engine's words for a specification. */
export function createOptions(
  spec: ContainerSpec,
  name: string,
  facts: EngineFacts,
  host: HostLimits,
): Dockerode.ContainerCreateOptions {
  const { limits = {}, network } = spec;
  checkCpus(limits.cpus, facts);
  if (network === "none" && (spec.networks ?? []).length > 0) {
    throw new RunnerError("usage", "CONTAINER_SPEC", "a container without a network cannot have further networks");
  }
  const attachment = network === "none" ? undefined : network;
  const dns = attachment === undefined ? "open" : (attachment.dns ?? "closed");
  return {
    name,
    Image: spec.image,
    ...(spec.entrypoint === undefined ? {} : { Entrypoint: [...spec.entrypoint] }),
    ...(spec.command === undefined ? {} : { Cmd: [...spec.command] }),
    ...(spec.hostname === undefined ? {} : { Hostname: spec.hostname }),
    Env: [...(spec.env ?? [])],
    User: spec.user ?? "",
    WorkingDir: spec.workdir ?? "",
    Labels: { ...spec.labels },
    Tty: false,
    OpenStdin: spec.stdin ?? false,
    StdinOnce: spec.stdin ?? false,
    AttachStdin: spec.stdin ?? false,
    AttachStdout: true,
    AttachStderr: true,
    Healthcheck: { Test: ["NONE"] },
    HostConfig: {
      NetworkMode: attachment?.id ?? "none",
      RestartPolicy: { Name: "no" },
      LogConfig: { Type: "none", Config: {} },
      Init: spec.init ?? true,
      CapDrop: ["ALL"],
      CapAdd: [...(spec.capAdd ?? [])],
      SecurityOpt: ["no-new-privileges"],
      IpcMode: "private",
      ReadonlyRootfs: spec.readOnlyRootfs ?? false,
      Mounts: [...(spec.mounts ?? []).map(mountOf), ...(spec.masks ?? []).map(maskOf)],
      Ulimits: ulimitsOf(limits.ulimits ?? [], host),
      ...(limits.cpus === undefined ? {} : { NanoCpus: Math.round(limits.cpus * 1e9) }),
      ...(limits.memoryBytes === undefined ? {} : { Memory: limits.memoryBytes, MemorySwap: limits.memoryBytes }),
      ...(limits.pids === undefined ? {} : { PidsLimit: limits.pids }),
      ...(limits.shmBytes === undefined ? {} : { ShmSize: limits.shmBytes }),
      ...(spec.sysctls === undefined ? {} : { Sysctls: { ...spec.sysctls } }),
      ...(spec.extraHosts === undefined ? {} : { ExtraHosts: [...spec.extraHosts] }),
      ...(dns === "closed" ? CLOSED_DNS : dns === "open" ? {} : { ...CLOSED_DNS, Dns: [dns.server] }),
    },
    ...(attachment === undefined
      ? {}
      : { NetworkingConfig: { EndpointsConfig: { [attachment.id]: { Aliases: [...(attachment.aliases ?? [])] } } } }),
  };
}

function mountOf(mount: VolumeMount): Dockerode.MountSettings {
  return {
    Type: "volume",
    Source: mount.volume,
    Target: mount.target,
    ReadOnly: mount.readOnly ?? false,
    VolumeOptions: { NoCopy: mount.noCopy ?? false, Labels: {}, DriverConfig: { Name: "local", Options: {} } },
  };
}

function maskOf(path: string): Dockerode.MountSettings {
  return {
    Type: "tmpfs",
    Source: "",
    Target: path,
    ReadOnly: true,
    TmpfsOptions: { SizeBytes: 4096, Mode: 0o555 },
  };
}

function checkCpus(cpus: number | undefined, facts: EngineFacts): void {
  if (cpus === undefined || (cpus > 0 && cpus <= facts.cpus)) return;
  throw new RunnerError(
    "environment",
    "LIMIT_CPUS",
    `${cpus} processors are asked for, and the engine has ${facts.cpus}`,
    {
      hint: `Ask for a number above 0 and up to ${facts.cpus}.`,
    },
  );
}
