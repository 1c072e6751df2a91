import { join } from "node:path";
import type { CassetteInput } from "../../runner/base/formats/cassette.ts";
import { type Executed, json, type Ran, runner, writeFiles } from "./e2e.ts";

/** What the stand-in server advertises, in the form of a locked surface. */
const TOOL = {
  name: "calc.add",
  description: "Adds two integers.",
  inputSchema: { type: "object", properties: { a: { type: "integer" }, b: { type: "integer" } }, required: ["a", "b"] },
};
const SERVER = { name: "stand-in", version: "1.0.0" };
const SURFACE = {
  schemaVersion: "1",
  server: SERVER,
  protocolVersion: "2025-06-18",
  capabilities: { tools: {} },
  instructions: "Adds.",
  tools: [TOOL],
  catalog: null,
};

/**
 * A stand-in MCP server as a Node program. `twist` is JavaScript that runs before each answer with `message`, `response`, `answer` (a
 * function that sends a result) in scope, and returns true when it has dealt with the message itself.
 */
export function standIn(twist = ""): string[] {
  const program = `
const http = require("node:http");
const twist = (message, response, answer) => { ${twist} };
http.createServer((request, response) => {
  if (request.method !== "POST") return response.writeHead(405).end();
  let body = "";
  request.on("data", (chunk) => (body += chunk)).on("end", () => {
    const message = JSON.parse(body);
    const answer = (result) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
    };
    if (twist(message, response, answer)) return;
    if (message.id === undefined) return response.writeHead(202).end();
    const { a, b } = message.params?.arguments ?? {};
    if (message.method === "initialize") answer(${JSON.stringify({ protocolVersion: SURFACE.protocolVersion, capabilities: SURFACE.capabilities, serverInfo: SERVER, instructions: SURFACE.instructions })});
    else if (message.method === "tools/list") answer({ tools: ${JSON.stringify([TOOL])} });
    else if (message.method === "tools/call") answer({ content: [{ type: "text", text: String(a + b) }] });
    else answer({});
  });
}).listen(8000);`;
  return ["node", "-e", program];
}

export interface StudyOptions {
  readonly dataset: string;
  readonly tasks: readonly string[];
  readonly agent?: object;
  /** Absent: no model. */
  readonly model?: object;
  readonly command?: readonly string[];
  readonly budgets?: object;
  readonly conversations?: CassetteInput["conversations"];
  readonly startSeconds?: number;
  /** Default 1. */
  readonly repetitions?: number;
}

/** Writes a study with its surface and cassettes into a folder and gives the study file's path. */
export async function writeStudy(dir: string, options: StudyOptions): Promise<string> {
  const { dataset, tasks, agent, model, command, budgets, conversations, startSeconds, repetitions } = options;
  const study = {
    schemaVersion: "1",
    studyId: "e2e",
    evidenceClass: "demo",
    causalClaimAuthorized: false,
    dataset,
    tasks,
    agent: agent ?? { name: "toolloop" },
    ...(model === undefined && conversations === undefined
      ? {}
      : { model: model ?? { id: "scripted", api: "chat", replay: "cassettes" } }),
    conditions: {
      control: {},
      treatment: {
        mcp: {
          name: "standin",
          image: "base",
          command: command ?? standIn(),
          url: "http://standin:8000/mcp",
          surface: "surface.json",
          startSeconds: startSeconds ?? 30,
        },
      },
    },
    budgets: { agentSeconds: 60, modelRequests: 6, tokens: 1_000_000, toolCalls: 10, ...budgets },
    repetitions: repetitions ?? 1,
    seed: 7,
    analysis: {
      primary: "reward",
      method: "ft15-and-sign-flip",
      alpha: 0.05,
      missing: "drop-pair",
      minCoverage: 0.8,
      maxDropImbalance: 0.1,
    },
  };
  await writeFiles(dir, {
    "study.json": JSON.stringify(study),
    "surface.json": JSON.stringify(SURFACE),
    ...(conversations === undefined
      ? {}
      : { "cassettes/all.json": JSON.stringify({ schemaVersion: "1", modelSource: "scripted", conversations }) }),
  });
  return join(dir, "study.json");
}

type Conversation = CassetteInput["conversations"][number];
type Exchange = Conversation["exchanges"][number];

/** Shell commands one turn after the other, then a closing word. */
export function talk(task: string, ...commands: readonly string[]): Conversation {
  const usage = { input: 100, output: 10 };
  const turns = commands.map(
    (command, index): Exchange => ({
      match: { turn: index + 1 },
      reply: { toolCalls: [{ name: "shell", arguments: { command } }], usage },
    }),
  );
  return {
    scope: { task, condition: "any" },
    exchanges: [...turns, { match: { turn: commands.length + 1 }, reply: { text: "Done.", usage } }],
  };
}

/** Runs a study with `--execute` and gives its JSON result. */
export async function execute(
  study: string,
  condition: "control" | "treatment" | "both",
  out: string,
  options: { readonly args?: readonly string[]; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Ran & { readonly result: Executed }> {
  const ran = await runner(
    [
      "execute",
      "--study",
      study,
      "--condition",
      condition,
      "--out",
      out,
      "--execute",
      "--json",
      ...(options.args ?? []),
    ],
    options.env === undefined ? {} : { env: options.env },
  );
  return { ...ran, result: json<Executed>(ran) };
}

/** Each trial of a result as a line: task, condition, outcome, reward or cause. */
export function rowLines({ runs }: Executed): string[] {
  return runs
    .flatMap(({ rows }) => rows)
    .map(({ task, condition, outcome, reward, cause }) => `${task} ${condition}: ${outcome} ${cause ?? reward}`)
    .sort();
}
