import { setMaxListeners } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readJsonLines } from "../agent/json-lines.ts";
import type { ModelAgent } from "../agent/model-agent.ts";
import type { Digest } from "../base/digest.ts";
import { RunnerError } from "../base/errors.ts";
import { textAt } from "../base/formats/json-access.ts";
import { isUnknown } from "../base/unknown.ts";
import type { Engine } from "../docker/engine.ts";
import { type ObjectStore, openStore } from "../evidence/store.ts";
import { readTrace } from "../trace/read-trace.ts";
import { gatewayPlan } from "../trial/gateway-plan.ts";
import { type GatewaySet, openGatewaySet } from "../trial/gateway-set.ts";
import { newRunId, openWorld } from "../trial/open-world.ts";
import type { TrialRecord } from "../trial/record.ts";
import { runTrial } from "../trial/run-trial.ts";
import type { TrialSpec } from "../trial/spec.ts";
import type { TrialWorld } from "../trial/world.ts";
import { type CheckCase, checkCases } from "./check-agent-cases.ts";
import { checkTask, checkTrial } from "./check-agent-trial.ts";
import { startNameSink } from "./name-sink.ts";

/** What one conversation showed. */
export interface CaseFacts {
  readonly name: string;
  readonly outcome: string;
  /** Why the trial or the agent ended, in the record's words. */
  readonly detail: string | null;
  /** Tools of the model requests that offered some, sorted; every different list once. */
  readonly tools: readonly (readonly string[])[];
  readonly requestsWithoutTools: number;
  /** Kinds of the transcript's lines, in the order of their first. */
  readonly events: readonly string[];
  /** The agent's version as it names itself, where it does. */
  readonly version: string | null;
  /** Hosts outside that it tried. */
  readonly hosts: readonly string[];
  readonly problems: readonly string[];
}

export interface AgentCheck {
  readonly agent: string;
  readonly release: string;
  readonly cases: readonly CaseFacts[];
  readonly problems: readonly string[];
}

export interface CheckAgentOptions {
  readonly engine: Engine;
  readonly agent: ModelAgent;
  /** Ids of the runner's own images by name. */
  readonly images: ReadonlyMap<string, Digest>;
  readonly idleSeconds?: number;
  /** Only the conversations with these names; default all. */
  readonly only?: readonly string[];
  readonly report: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Leads an agent through scripted conversations in containers, under both conditions, beside a name server that notes what it asks for. */
export async function checkAgent(options: CheckAgentOptions): Promise<AgentCheck> {
  const { engine, agent, images, signal, report, only } = options;
  // Everything of a trial listens to it, and nothing of it stays.
  setMaxListeners(0, signal);
  const folder = await mkdtemp(join(tmpdir(), "runner-agent-check-"));
  try {
    const [task, store] = [await checkTask(folder), await openStore(folder)];
    await using shared = await openWorld({ engine, runId: newRunId(), images, signal });
    const world: TrialWorld = { ...shared, store };
    const own = { workbench: need(images, "workbench"), base: need(images, "base") };
    const cases: CaseFacts[] = [];
    for (const [index, found] of checkCases(agent, options.idleSeconds ?? 0).entries()) {
      if (only !== undefined && !only.includes(found.name)) continue;
      const spec = checkTrial(agent, task, found, index + 1, own);
      const facts = await runCase(world, spec, found, own.base, signal);
      report(`${agent.name} ${found.name}: ${facts.problems.length === 0 ? "as expected" : facts.problems.join("; ")}`);
      cases.push(facts);
    }
    return {
      agent: agent.name,
      release: agent.npm === null ? agent.version : `${agent.npm.package}@${agent.npm.version}`,
      cases,
      problems: cases.flatMap(({ name, problems }) => problems.map((problem) => `${name}: ${problem}`)),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runCase(
  world: TrialWorld,
  spec: TrialSpec,
  expected: CheckCase,
  sinkImage: Digest,
  signal: AbortSignal,
): Promise<CaseFacts> {
  let hosts: () => string[] = () => [];
  const open = async (): Promise<GatewaySet> => {
    const set = await openGatewaySet(world, gatewayPlan(world.runId, spec), signal);
    try {
      const sink = await startNameSink(world, set.agentNetwork, sinkImage, signal);
      hosts = sink.hosts;
      return {
        ...set,
        nameServer: sink.address,
        [Symbol.asyncDispose]: async () => {
          await sink[Symbol.asyncDispose]();
          await set[Symbol.asyncDispose]();
        },
      };
    } catch (thrown) {
      await set[Symbol.asyncDispose]();
      throw thrown;
    }
  };
  const record = await runTrial(world, spec, open, signal);
  signal.throwIfAborted();
  const seen = await readFacts(world.store, spec, record);
  const tried = hosts().filter((host) => host !== "gateway");
  return {
    name: expected.name,
    ...seen,
    hosts: tried,
    problems: [...judge(record, expected), ...(tried.length === 0 ? [] : [`it tried to reach ${tried.join(", ")}`])],
  };
}

async function readFacts(
  store: ObjectStore,
  spec: TrialSpec,
  record: TrialRecord,
): Promise<Omit<CaseFacts, "name" | "hosts" | "problems">> {
  const [step] = record.steps;
  const trace = record.gateway === null ? null : readTrace(await store.readAll(record.gateway.trace), "the trace");
  const offers =
    trace?.events.flatMap((event) => (event.type === "tools-offered" ? [[...event.names].sort()] : [])) ?? [];
  const lists = new Map(offers.filter((names) => names.length > 0).map((names) => [names.join(" "), names]));
  const stdout = step?.agentOutput == null ? Buffer.alloc(0) : await store.readAll(step.agentOutput.stdout.head);
  const lines = readJsonLines(stdout);
  const transcript = spec.agent.kind === "model" ? spec.agent.agent.readTranscript(stdout, spec.mcp?.name ?? "") : null;
  return {
    outcome: record.reward === null ? record.outcome : `${record.outcome} ${record.reward}`,
    detail: record.cause?.detail ?? step?.agentEnd?.detail ?? null,
    tools: [...lists.values()],
    requestsWithoutTools: offers.length - offers.filter((names) => names.length > 0).length,
    events: isUnknown(lines)
      ? []
      : [
          ...new Set(
            lines.map((line) =>
              [textAt(line, "type"), textAt(line, "subtype"), textAt(line, "item", "type")]
                .filter((word) => word !== undefined)
                .join("/"),
            ),
          ),
        ],
    version: transcript === null || isUnknown(transcript) || isUnknown(transcript.version) ? null : transcript.version,
  };
}

function judge(record: TrialRecord, { outcome, reward, end, words }: CheckCase): string[] {
  const [step] = record.steps;
  const detail = [record.cause?.detail, step?.agentEnd?.detail].filter((text) => text != null).join("; ");
  const problems: string[] = [];
  if (record.outcome !== outcome || record.reward !== reward)
    problems.push(
      `it came to ${record.outcome} ${record.reward ?? ""} (${detail || "no detail"}), not ${outcome} ${reward ?? ""}`,
    );
  if (step?.agentEnd?.by !== end) problems.push(`the agent ended by ${step?.agentEnd?.by ?? "nothing"}, not ${end}`);
  if (words !== null && !words.test(detail)) problems.push(`"${detail}" does not say ${words.source}`);
  return problems;
}

function need(images: ReadonlyMap<string, Digest>, name: string): Digest {
  const id = images.get(name);
  if (id !== undefined) return id;
  throw new RunnerError("environment", "IMAGE_MISSING", `the image jacobian-runner/${name} has not been built here`, {
    hint: "Run `runner images build`.",
  });
}
