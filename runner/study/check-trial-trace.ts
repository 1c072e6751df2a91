import { isDeepStrictEqual } from "node:util";
import type { Digest } from "../base/digest.ts";
import { surfaceDigest, surfaceSchema } from "../base/formats/surface.ts";
import type { TraceBody } from "../base/formats/trace-body.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import type { ObjectRef } from "../evidence/object-ref.ts";
import type { ObjectStore } from "../evidence/store.ts";
import type { Trace } from "../trace/read-trace.ts";
import { recheckTrace } from "../trace/recheck-trace.ts";
import type { ReadObject } from "../trace/trace-bodies.ts";
import { gatewayBudgets } from "../trial/gateway-plan.ts";
import type { TrialRecord } from "../trial/record.ts";
import type { TrialExpectation } from "./trial-expectation.ts";

type Store = Pick<ObjectStore, "readAll" | "path">;

/** Whether a trace is this trial's, under this plan, whole with its objects, and its own figures come out of it again. */
export async function checkTrace(
  store: Store,
  record: TrialRecord,
  expected: TrialExpectation,
  trace: Trace,
  readObject: ReadObject,
): Promise<string[]> {
  return [
    ...checkScope(record, expected, trace),
    ...checkObjects(record, trace),
    ...(await checkServer(store, record, expected, trace)),
    ...recheckTrace(trace.events, readObject).map((reason) => `the trace: ${reason}`),
  ];
}

function checkScope(record: TrialRecord, expected: TrialExpectation, { events }: Trace): string[] {
  const { plan } = expected;
  const [start] = events;
  if (start?.type !== "start") return ["the trace has no start"];
  const { scope } = start;
  const reasons: string[] = [];
  if (
    scope.task !== record.task ||
    scope.condition !== record.condition ||
    scope.repetition !== record.repetition ||
    !start.trialId.endsWith(`-${record.condition}-${record.number}-${record.attempt}`)
  ) {
    reasons.push(
      `the trace belongs to another trial: ${start.trialId}, task ${scope.task}, repetition ${scope.repetition}`,
    );
  }
  const model = plan.model === null ? null : { id: plan.model.id, source: plan.model.source };
  const seen = start.model === null ? null : { id: start.model.id, source: start.model.source };
  if (model?.id !== seen?.id || model?.source !== seen?.source)
    reasons.push(`the trace was made with the model ${JSON.stringify(seen)}, planned is ${JSON.stringify(model)}`);
  const { prices } = expected.limits;
  const budgets = gatewayBudgets(expected.limits.budgets, expected.binding.reward.steps);
  if (!isDeepStrictEqual(start.prices, prices))
    reasons.push(
      `the trace was made with the prices ${JSON.stringify(start.prices)}, planned are ${JSON.stringify(prices)}`,
    );
  if (!isDeepStrictEqual(start.budgets, budgets))
    reasons.push(
      `the trace was made with the budgets ${JSON.stringify(start.budgets)}, planned are ${JSON.stringify(budgets)}`,
    );
  const cassette = plan.cassettes[String(record.number)] ?? null;
  if (start.cassetteDigest !== cassette)
    reasons.push(`the trace was made with the cassette ${start.cassetteDigest}, planned is ${cassette}`);
  return reasons;
}

/** A whole trace and its objects name each other; of a torn trace the objects may go further. */
function checkObjects(record: TrialRecord, trace: Trace): string[] {
  const listed = new Set<string>(record.gateway?.objects.map(({ digest }) => digest));
  const named = new Set<string>();
  const walk = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const { object, digest } = value as Partial<TraceBody>;
    if (object === true && digest !== undefined) named.add(digest);
    for (const member of Object.values(value)) walk(member);
  };
  walk(trace.events);
  const reasons = [...named].flatMap((digest) =>
    listed.has(digest) ? [] : [`the trace names object ${digest}, and the record does not list it`],
  );
  if (!trace.complete) return reasons;
  const spare = [...listed].filter((digest) => !named.has(digest));
  return [...reasons, ...spare.map((digest) => `the record lists object ${digest}, and the trace does not name it`)];
}

async function checkServer(
  store: Store,
  record: TrialRecord,
  { surface: locked, surfaces }: TrialExpectation,
  trace: Trace,
): Promise<string[]> {
  const { gateway, condition, outcome } = record;
  const [start] = trace.events;
  if (gateway === null || start?.type !== "start") return [];
  const preflights = trace.events.filter((event) => event.type === "preflight");
  if (condition !== "treatment") {
    const seen = trace.events.find(({ type }) =>
      ["mcp-request", "mcp-frame", "mcp-response", "mcp-end"].includes(type),
    );
    return start.mcpUrl !== null || gateway.surface !== null || preflights.length > 0 || seen !== undefined
      ? [`control saw an MCP server: ${start.mcpUrl ?? seen?.type ?? "a surface was recorded"}`]
      : [];
  }
  const reasons: string[] = [];
  if (start.mcpUrl === null) reasons.push("the treatment's gateway had no MCP server");
  if (outcome !== "scored") return reasons;
  const agent = trace.events.findIndex((event) => event.type === "phase" && event.phase === "agent-started");
  const before = preflights.filter((event) => trace.events.indexOf(event) < agent).at(-1);
  if (before === undefined || !before.ok || before.surfaceDigest !== locked)
    reasons.push("the trace has no preflight that saw the locked surface before the agent started");
  if (gateway.surface === null) reasons.push("it keeps no surface of its MCP server");
  else {
    const seen = surfaces.get(gateway.surface.digest) ?? (await readSurfaceDigest(store, gateway.surface));
    surfaces.set(gateway.surface.digest, seen);
    if (seen !== locked) reasons.push("its MCP server's surface is not the locked one");
  }
  return reasons;
}

async function readSurfaceDigest(store: Store, ref: ObjectRef): Promise<Digest> {
  const source = "the trial's surface";
  return surfaceDigest(parseInput(surfaceSchema, parseStrictJson(await store.readAll(ref), { source }), source));
}
