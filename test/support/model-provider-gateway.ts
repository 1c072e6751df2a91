import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../runner/base/clock.ts";
import { digestJson } from "../../runner/base/digest.ts";
import { type CassetteInput, cassetteSchema } from "../../runner/base/formats/cassette.ts";
import { type GatewayConfigInput, gatewayConfigSchema } from "../../runner/base/formats/gateway-config.ts";
import type { GatewayNotice } from "../../runner/base/formats/gateway-protocol.ts";
import type { TraceEvent, TraceEventOf, TraceEventType } from "../../runner/base/formats/trace-events.ts";
import type { Lookup } from "../../runner/gateway/forward-proxy.ts";
import { Gateway } from "../../runner/gateway/gateway.ts";
import { readTrace, type Trace } from "../../runner/trace/read-trace.ts";

export interface TestGateway extends AsyncDisposable {
  readonly url: string;
  readonly notices: readonly GatewayNotice[];
  readonly folder: string;
  readonly gateway: Gateway;
  /** Ends the agent's time, completes the evidence and reads it. */
  finish(): Promise<FinishedGateway>;
}

export interface FinishedGateway {
  readonly complete: boolean;
  readonly trace: Trace;
  readonly readObject: (name: string) => Uint8Array | undefined;
  /** The events of one type. */
  of<T extends TraceEventType>(type: T): TraceEventOf<T>[];
  /** Every byte that was written, for searches. */
  allBytes(): Promise<Buffer>;
}

export interface TestGatewayOptions {
  readonly cassette?: CassetteInput;
  readonly lookup?: Lookup;
  /** False leaves the agent's routes closed. Default true. */
  readonly open?: boolean;
}

/** The least config of a treatment trial; tests say what differs. */
export function testConfig(changes: Partial<GatewayConfigInput> = {}): GatewayConfigInput {
  return {
    schemaVersion: "1",
    trialId: "trial-1",
    scope: { task: "task-1", condition: "treatment", repetition: 1 },
    model: null,
    mcp: null,
    ...changes,
  };
}

/** Starts a gateway on a loopback port with its evidence in a temporary folder. */
export async function startGateway(input: GatewayConfigInput, options: TestGatewayOptions = {}): Promise<TestGateway> {
  const folder = await mkdtemp(join(tmpdir(), "gateway-test-"));
  const notices: GatewayNotice[] = [];
  const cassette = options.cassette === undefined ? null : cassetteSchema.parse(options.cassette);
  const gateway = new Gateway({
    config: gatewayConfigSchema.parse(input),
    cassette: cassette === null ? null : { value: cassette, digest: digestJson("cassette") },
    folder,
    version: "test",
    clock: systemClock,
    notify: (notice) => notices.push(notice),
    onFailed: () => undefined,
    ...(options.lookup === undefined ? {} : { lookup: options.lookup }),
  });
  const port = await gateway.listen(0, "127.0.0.1");
  if (options.open !== false) gateway.agentStarted();
  let finished: Promise<boolean> | undefined;
  const end = () => {
    finished ??= gateway.finish();
    return finished;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    notices,
    folder,
    gateway,
    async finish() {
      const complete = await end();
      const bytes = await readFile(join(folder, "trace.jsonl"));
      const trace = readTrace(bytes, "trace.jsonl");
      const names = new Set<string>();
      collectObjects(trace.events, names);
      return {
        complete,
        trace,
        readObject: (name) => {
          const path = join(folder, "objects", name);
          return existsSync(path) ? readFileSync(path) : undefined;
        },
        of: <T extends TraceEventType>(type: T) =>
          trace.events.filter((event): event is TraceEventOf<T> => event.type === type),
        allBytes: async () =>
          Buffer.concat([bytes, ...[...names].map((name) => readFileSync(join(folder, "objects", name)))]),
      };
    },
    async [Symbol.asyncDispose]() {
      await end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function collectObjects(value: unknown, names: Set<string>): void {
  if (typeof value !== "object" || value === null) return;
  if ("object" in value && value.object === true && "digest" in value && typeof value.digest === "string") {
    names.add(value.digest.slice("sha256:".length));
  }
  for (const member of Object.values(value)) collectObjects(member, names);
}

export type { TraceEvent };
