import { buffer } from "node:stream/consumers";
import { RunnerError } from "../base/errors.ts";
import { GATEWAY_PATHS } from "../base/formats/gateway-config.ts";
import { readArchive } from "../docker/archive/read.ts";
import type { ObjectRef } from "../evidence/object-ref.ts";
import type { ObjectStore } from "../evidence/store.ts";
import type { GatewaySet } from "./gateway-set.ts";
import type { TrialRecord } from "./record.ts";

/** The gateway's evidence in the store. */
export type GatewayEvidence = NonNullable<TrialRecord["gateway"]>;

const LIMITS = { entries: 1_000_000, fileBytes: 2 * 1024 ** 3, totalBytes: 4 * 1024 ** 3 };

/** Lets the gateway write the end of its trace and go, and waits for that. */
export async function finishGateway(set: GatewaySet, signal: AbortSignal): Promise<void> {
  set.link.send({ do: "finish" });
  await set.link.expect("finished", signal);
}

/**
 * Copies the evidence folder out of a gateway, dead or alive. A trace without its end is kept as it is: its reader tells.
 * @throws RunnerError `GATEWAY_EVIDENCE` when there is no trace at all.
 */
export async function takeGatewayEvidence(
  set: GatewaySet,
  store: ObjectStore,
  signal: AbortSignal,
): Promise<GatewayEvidence & { readonly cassette: Buffer | null }> {
  const archive = await set.gateway.getArchive(GATEWAY_PATHS.evidence, { signal });
  const found = new Map<string, ObjectRef>();
  let cassette: Buffer | null = null;
  if (archive !== null) {
    await readArchive(archive, {
      root: GATEWAY_PATHS.evidence,
      signal,
      limits: LIMITS,
      onEntry: async (entry, body) => {
        if (entry.type !== "file" || body === null) return;
        // A recording is an operator's file, no part of the evidence.
        if (entry.path === "cassette.json") cassette = await buffer(body);
        else found.set(entry.path, await store.putStream(body));
      },
    });
  }
  const trace = found.get("trace.jsonl");
  if (trace === undefined) {
    throw new RunnerError("environment", "GATEWAY_EVIDENCE", "the gateway left no trace");
  }
  const objects = [...found].filter(([path]) => path.startsWith("objects/")).map(([, ref]) => ref);
  return {
    trace,
    objects: objects.sort((a, b) => (a.digest < b.digest ? -1 : 1)),
    surface: found.get("surface.json") ?? null,
    cassette,
  };
}
