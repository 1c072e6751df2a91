import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { TOOLLOOP } from "../agent/toolloop/agent.ts";
import { canonicalText } from "../base/canonical-json.ts";
import type { Clock } from "../base/clock.ts";
import { digestJson } from "../base/digest.ts";
import { budgetsSchema } from "../base/formats/budgets.ts";
import { type Surface, surfaceDigest } from "../base/formats/surface.ts";
import { nameForModel } from "../base/formats/tool-naming.ts";
import type { ObjectStore } from "../evidence/store.ts";
import { Evidence } from "../gateway/evidence.ts";
import { FIND_TOOL, RUN_TOOL } from "../trace/operation-stages.ts";
import type { TrialRecord } from "../trial/record.ts";
import type { PlannedTrial } from "./order.ts";
import type { Plan } from "./plan.ts";
import { ask, assistantMessage, type Call, passCall } from "./synthetic-exchange.ts";
import { SYNTHETIC_MODEL, SYNTHETIC_OPERATIONS, SYNTHETIC_SURFACE } from "./synthetic-plan.ts";
import { printedLines } from "./synthetic-text.ts";

/** What a trial's agent left: its boundary trace, and its own transcript. */
export interface SyntheticTalk {
  readonly gateway: NonNullable<TrialRecord["gateway"]>;
  readonly transcript: string;
}

/** Bytes of a command's output in the conversation. */
const OUTPUT_BYTES = 1200;

/**
 * Writes the trace of a conversation that was never held with the gateway's own evidence writer: three requests with the agent's shell in
 * control, and before them two with a call of the server's tools in the treatment. Requests carry the whole conversation before them.
 */
export async function writeSyntheticTrace(
  store: ObjectStore,
  scratch: string,
  trialId: string,
  planned: PlannedTrial,
  plan: Plan,
): Promise<SyntheticTalk> {
  const folder = join(scratch, trialId);
  await mkdir(folder, { recursive: true });
  try {
    const fatal: string[] = [];
    const evidence = new Evidence({
      folder,
      maxBytes: 64 * 1024 * 1024,
      clock: tickingClock(),
      secrets: [],
      onFatal: (_code, detail) => fatal.push(detail),
    });
    const transcript = talk(evidence, trialId, planned, plan);
    if (evidence.close() === null || fatal.length > 0)
      throw new Error(`the trace of ${trialId} was not written: ${fatal.join("; ")}`);
    const objects = [];
    for (const name of (await readdir(join(folder, "objects"))).sort())
      objects.push(await store.put(await readFile(join(folder, "objects", name))));
    const treated = planned.condition === "treatment";
    const gateway = {
      trace: await store.put(await readFile(join(folder, "trace.jsonl"))),
      objects,
      surface: treated ? await store.put(canonicalText(SYNTHETIC_SURFACE)) : null,
    };
    return { gateway, transcript };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Advances by 1.5 ms at each look, so that the same trial gives the same bytes. */
function tickingClock(): Clock {
  let micros = 0;
  return {
    micros: () => {
      micros += 1500;
      return micros;
    },
    wall: () => "2026-01-01T00:00:00.000Z",
  };
}

function talk(evidence: Evidence, trialId: string, planned: PlannedTrial, plan: Plan): string {
  const { task, condition, repetition, number } = planned;
  const treated = condition === "treatment";
  const naming = TOOLLOOP.naming(plan.mcp.name);
  const server = treated ? SYNTHETIC_SURFACE.tools : [];
  const shell: Surface["tools"][number] = {
    name: "shell",
    description: "Run a command with /bin/sh.",
    inputSchema: { type: "object" },
  };
  const shown: Surface["tools"] = [
    shell,
    ...server.map((tool) => ({ ...tool, name: nameForModel(tool.name, naming) })),
  ];
  const tools = shown.map(({ name, description, inputSchema }) => ({
    type: "function",
    function: { name, description, parameters: inputSchema },
  }));
  const names = shown.map(({ name }) => name);
  evidence.emit({
    type: "start",
    schemaVersion: "1",
    gateway: "1",
    trialId,
    scope: { task, condition, repetition },
    wall: "2026-01-01T00:00:00.000Z",
    model: { id: SYNTHETIC_MODEL, baseUrl: null, source: "scripted" },
    cassetteDigest: (plan.cassettes[String(number)] ?? null) as `sha256:${string}` | null,
    mcpUrl: treated ? plan.mcp.url : null,
    budgets: budgetsSchema.parse(plan.budgets),
    prices: null,
  });
  evidence.emit({ type: "phase", phase: "listening" });
  if (treated) {
    const page = { jsonrpc: "2.0", id: 2, result: { tools: SYNTHETIC_SURFACE.tools } };
    evidence.emit({
      type: "preflight",
      ok: true,
      surfaceDigest: surfaceDigest(SYNTHETIC_SURFACE),
      code: null,
      detail: null,
      toolPages: [evidence.body(Buffer.from(JSON.stringify(page)))],
    });
  }
  evidence.emit({ type: "phase", phase: "agent-started" });
  let next = 0;
  const exchange = (): string => `x${++next}`;
  const messages: object[] = [
    {
      role: "system",
      content: `Work on the task with the tools that you have.\n${printedLines(`rules of ${task}`, 800)}`,
    },
    { role: "user", content: `Task ${task}.\n${printedLines(`instruction of ${task}`, 1600)}` },
  ];
  const lines: object[] = [{ type: "start", model: SYNTHETIC_MODEL, tools: names, mcp: treated }];
  const turns = callsOf(planned, naming);
  for (const [index, call] of [...turns, null].entries()) {
    const reply = call === null ? { text: `The answer is ${digestJson([task, number])}.` } : { call };
    const usage = ask(evidence, exchange(), { names, tools, messages, reply });
    lines.push({
      type: "assistant",
      turn: index + 1,
      text: reply.text ?? "",
      toolCalls: call === null ? [] : [{ id: call.id, name: call.name, arguments: call.arguments }],
      usage,
    });
    if (call === null) break;
    if (call.name !== "shell") passCall(evidence, exchange(), call);
    messages.push(assistantMessage(call), { role: "tool", tool_call_id: call.id, content: call.result });
    lines.push({ type: "tool-result", turn: index + 1, id: call.id, isError: false, text: call.result });
  }
  lines.push({ type: "end", reason: "finished" });
  evidence.emit({ type: "phase", phase: "agent-ended" });
  evidence.emit({ type: "phase", phase: "finish" });
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

function callsOf({ task, number, condition }: PlannedTrial, naming: Parameters<typeof nameForModel>[1]): Call[] {
  const [operation] = SYNTHETIC_OPERATIONS;
  const own = [1, 2].map((turn) => ({
    id: `call-${turn + 2}`,
    name: "shell",
    arguments: JSON.stringify({ command: `python3 step-${turn}.py --trial ${number}` }),
    result: printedLines(`output ${turn} of ${task} ${number}`, OUTPUT_BYTES),
  }));
  if (condition === "control") return own;
  const found = { kind: "search", matches: SYNTHETIC_OPERATIONS.map((id) => ({ operation_id: id, summary: id })) };
  const ran = { operation_id: operation, output: { rows: printedLines(`result of ${task} ${number}`, OUTPUT_BYTES) } };
  return [
    {
      id: "call-1",
      name: nameForModel(FIND_TOOL, naming),
      arguments: JSON.stringify({ query: `normal form ${number}` }),
      result: JSON.stringify(found),
    },
    {
      id: "call-2",
      name: nameForModel(RUN_TOOL, naming),
      arguments: JSON.stringify({ operation_id: operation, input: { trial: number } }),
      result: JSON.stringify(ran),
    },
    ...own,
  ];
}
