import { readFile } from "node:fs/promises";

/** A limit of one process, as `nofile`, in its own unit; -1 is unlimited. */
export interface Ulimit {
  readonly name: string;
  readonly soft: number;
  readonly hard: number;
}

/** Hard limits of this machine by ulimit name; a name that is missing is not limited as far as is known. */
export type HostLimits = ReadonlyMap<string, number>;

const NAMES: Readonly<Record<string, string>> = {
  "Max cpu time": "cpu",
  "Max file size": "fsize",
  "Max data size": "data",
  "Max stack size": "stack",
  "Max core file size": "core",
  "Max resident set": "rss",
  "Max processes": "nproc",
  "Max open files": "nofile",
  "Max locked memory": "memlock",
  "Max address space": "as",
  "Max file locks": "locks",
  "Max pending signals": "sigpending",
  "Max msgqueue size": "msgqueue",
};

/** Reads the hard limits of this process, which are those of the engine beside it unless somebody chose others. */
export async function readHostLimits(): Promise<HostLimits> {
  return parseLimits(await readFile("/proc/self/limits", "latin1").catch(() => ""));
}

/** Parses /proc/PID/limits. */
export function parseLimits(text: string): HostLimits {
  const limits = new Map<string, number>();
  for (const line of text.split("\n")) {
    const match = /^(Max [a-z ]+?) {2,}(?:\S+) +(\d+|unlimited)/.exec(line);
    const name = NAMES[match?.[1] ?? ""];
    if (name !== undefined && match?.[2] !== undefined && match[2] !== "unlimited") limits.set(name, Number(match[2]));
  }
  return limits;
}

/** The engine's words for ulimits: never above the host's hard limit (a start would fail), and no core files unless asked for. */
export function ulimitsOf(wanted: readonly Ulimit[], host: HostLimits): { Name: string; Soft: number; Hard: number }[] {
  const all = wanted.some(({ name }) => name === "core") ? wanted : [...wanted, { name: "core", soft: 0, hard: 0 }];
  return all.map(({ name, soft, hard }) => {
    const cap = host.get(name);
    const clamp = (value: number) => (cap === undefined || (value >= 0 && value <= cap) ? value : cap);
    return { Name: name, Soft: clamp(soft), Hard: clamp(hard) };
  });
}
