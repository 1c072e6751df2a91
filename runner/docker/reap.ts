import pLimit from "p-limit";
import { messageOf, RunnerError } from "../base/errors.ts";
import { type Abortable, apiError, checkAborted } from "./api-error.ts";
import type { Engine } from "./engine.ts";
import { isAlive, LABEL, type Labels, type Owner, ownerOf, PROJECT, thisOwner } from "./ownership.ts";
import { removeContainer, removeImage, removeNetwork, removeVolume } from "./remove.ts";
import { SNAPSHOT_ROLE } from "./snapshot.ts";

export type ReapedKind = "container" | "network" | "volume" | "snapshot";

/** Something a dead owner left behind and that is gone now. */
export interface Reaped {
  readonly kind: ReapedKind;
  /** The engine's id; a volume's is its name. */
  readonly id: string;
  readonly run: string;
  readonly trial: string | null;
  readonly role: string;
}

export interface ReapOptions extends Abortable {
  /** Takes one line for people per thing removed. */
  readonly report?: (line: string) => void;
  /** Who asks; default this process. */
  readonly here?: Owner;
}

interface Found {
  readonly kind: ReapedKind;
  readonly id: string;
  readonly labels: Labels;
}

/**
 * Removes what owners of this machine left in the engine and that died: containers first, then networks, volumes and snapshots. Things
 * of a living owner, of another machine, or without a complete owner are never touched.
 * @throws RunnerError `REAP_INCOMPLETE` when something could not be removed, after everything else was.
 */
export async function reap(engine: Engine, { report, here, signal }: ReapOptions = {}): Promise<Reaped[]> {
  const asker = here ?? (await thisOwner());
  const left = await leftovers(engine, asker, signal);
  const limit = pLimit(4);
  const failures: string[] = [];
  const reaped: Reaped[] = [];
  for (const kind of ["container", "network", "volume", "snapshot"] as const) {
    checkAborted(signal, "remove leftovers");
    const removals = left
      .filter((found) => found.kind === kind)
      .map((found) =>
        limit(async () => {
          try {
            await removeOne(engine, found);
          } catch (thrown) {
            failures.push(`${kind} ${found.id}: ${messageOf(thrown)}`);
            return;
          }
          const gone = describe(found);
          reaped.push(gone);
          report?.(`removed ${kind} "${gone.role}" that run ${gone.run} left behind`);
        }),
      );
    await Promise.all(removals);
  }
  if (failures.length > 0) {
    throw new RunnerError("environment", "REAP_INCOMPLETE", `leftovers could not be removed: ${failures.join("; ")}`, {
      details: { failures },
    });
  }
  return reaped;
}

function describe({ kind, id, labels }: Found): Reaped {
  return {
    kind,
    id,
    run: labels[LABEL.run] ?? "",
    trial: labels[LABEL.trial] ?? null,
    role: labels[LABEL.role] ?? "",
  };
}

/** What dead owners of this machine left. */
async function leftovers(engine: Engine, here: Owner, signal: AbortSignal | undefined): Promise<Found[]> {
  const all = await listOurs(engine, signal);
  const verdicts = new Map<string, Promise<boolean>>();
  const abandoned = await Promise.all(
    all.map(async ({ labels }) => {
      const owner = ownerOf(labels);
      if (owner === undefined) return false;
      const key = JSON.stringify(owner);
      const alive = verdicts.get(key) ?? isAlive(owner, here);
      verdicts.set(key, alive);
      return !(await alive);
    }),
  );
  return all.filter((_, index) => abandoned[index]);
}

async function listOurs({ docker }: Engine, signal: AbortSignal | undefined): Promise<Found[]> {
  const abort = signal === undefined ? {} : { abortSignal: signal };
  const filters = { label: [`${LABEL.project}=${PROJECT}`] };
  const snapshots = { label: [...filters.label, `${LABEL.role}=${SNAPSHOT_ROLE}`] };
  try {
    const [containers, networks, volumes, images] = await Promise.all([
      docker.listContainers({ all: true, filters, ...abort }),
      docker.listNetworks({ filters, ...abort }),
      docker.listVolumes({ filters, ...abort }),
      docker.listImages({ filters: JSON.stringify(snapshots), ...abort }),
    ]);
    return [
      ...containers.map(({ Id: id, Labels: labels }) => ({ kind: "container" as const, id, labels })),
      ...networks.map(({ Id: id, Labels: labels }) => ({ kind: "network" as const, id, labels: labels ?? {} })),
      ...(volumes.Volumes ?? []).map(({ Name: id, Labels: labels }) => ({ kind: "volume" as const, id, labels })),
      ...images.map(({ Id: id, Labels: labels }) => ({ kind: "snapshot" as const, id, labels: labels ?? {} })),
    ];
  } catch (thrown) {
    throw apiError("list what earlier runs left behind", thrown, signal);
  }
}

async function removeOne({ docker }: Engine, { kind, id }: Found): Promise<void> {
  switch (kind) {
    case "container":
      return removeContainer(docker, id);
    case "network":
      return removeNetwork(docker, id);
    case "volume":
      return removeVolume(docker, id);
    case "snapshot":
      return removeImage(docker, id);
  }
}
