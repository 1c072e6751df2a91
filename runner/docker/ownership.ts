import { createHash } from "node:crypto";
import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";

/** Every object this project makes in an engine carries labels that start so. */
export const LABEL_PREFIX = "dev.jacobian-runner.";
/** The value of the project label. */
export const PROJECT = "jacobian-runner";

/** Full label names. */
export const LABEL = {
  project: `${LABEL_PREFIX}project`,
  run: `${LABEL_PREFIX}run`,
  trial: `${LABEL_PREFIX}trial`,
  role: `${LABEL_PREFIX}role`,
  machine: `${LABEL_PREFIX}machine`,
  boot: `${LABEL_PREFIX}boot`,
  pid: `${LABEL_PREFIX}pid`,
  started: `${LABEL_PREFIX}started`,
} as const;

/** The process that answers for an object: it alone removes it while it lives, and anyone on its machine may once it is dead. */
export interface Owner {
  /**
   * A hash of the machine's id and of the process-id namespace, so that two containers of one host, which cannot see each other's
   * processes, never take each other for dead.
   */
  readonly machine: string;
  readonly boot: string;
  readonly pid: number;
  /** Start time of the process in clock ticks since boot (field 22 of /proc/PID/stat): tells a reused pid apart. */
  readonly started: string;
}

export interface Labelling {
  readonly run: string;
  readonly trial?: string;
  /** What it is for, as `agent`, `verifier`, `gateway`. */
  readonly role: string;
}

export type Labels = Readonly<Record<string, string>>;

/** This process as an owner. */
export async function thisOwner(): Promise<Owner> {
  const [machineId, namespace, boot, process_] = await Promise.all([
    readFile("/etc/machine-id", "utf8").catch(() => ""),
    readlink("/proc/self/ns/pid").catch(() => ""),
    readFile("/proc/sys/kernel/random/boot_id", "utf8"),
    readProcess(process.pid),
  ]);
  if (process_ === undefined) throw new Error(`/proc/${process.pid}/stat cannot be read`);
  const machine = createHash("sha256")
    .update(JSON.stringify([machineId.trim() || hostname(), namespace]))
    .digest("hex")
    .slice(0, 32);
  return { machine, boot: boot.trim(), pid: process.pid, started: process_.started };
}

/** The labels of an object that `owner` makes. */
export function ownerLabels(owner: Owner, { run, trial, role }: Labelling): Labels {
  return {
    [LABEL.project]: PROJECT,
    [LABEL.run]: run,
    ...(trial === undefined ? {} : { [LABEL.trial]: trial }),
    [LABEL.role]: role,
    [LABEL.machine]: owner.machine,
    [LABEL.boot]: owner.boot,
    [LABEL.pid]: String(owner.pid),
    [LABEL.started]: owner.started,
  };
}

/** The owner that labels name; undefined when they name none completely. */
export function ownerOf(labels: Labels | null | undefined): Owner | undefined {
  if (labels?.[LABEL.project] !== PROJECT) return undefined;
  const machine = labels[LABEL.machine];
  const boot = labels[LABEL.boot];
  const pid = labels[LABEL.pid];
  const started = labels[LABEL.started];
  if (!machine || !boot || !pid || !started || !/^[1-9][0-9]{0,9}$/.test(pid)) return undefined;
  return { machine, boot, pid: Number(pid), started };
}

/** Whether an owner lives. One on another machine always counts as alive, since nothing here can tell. */
export async function isAlive(owner: Owner, here: Owner): Promise<boolean> {
  if (owner.machine !== here.machine) return true;
  if (owner.boot !== here.boot) return false;
  const found = await readProcess(owner.pid);
  return found !== undefined && found.started === owner.started && !found.dead;
}

/** Reads a process's start time; undefined when there is no such process. */
async function readProcess(pid: number): Promise<{ started: string; dead: boolean } | undefined> {
  let text: string;
  try {
    text = await readFile(`/proc/${pid}/stat`, "latin1");
  } catch {
    return undefined;
  }
  return parseStat(text);
}

/** Parses a line of /proc/PID/stat; the command name in it may hold spaces and brackets. */
export function parseStat(text: string): { started: string; dead: boolean } | undefined {
  const fields = text
    .slice(text.lastIndexOf(")") + 1)
    .trim()
    .split(" ");
  const state = fields[0];
  const started = fields[19];
  if (state === undefined || started === undefined || !/^[0-9]+$/.test(started)) return undefined;
  // A zombie holds its number and does nothing any more.
  return { started, dead: state === "Z" || state === "X" };
}
