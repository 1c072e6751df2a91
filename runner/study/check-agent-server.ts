import type { Digest } from "../base/digest.ts";
import type { Surface } from "../base/formats/surface.ts";
import type { McpPlan } from "../trial/spec.ts";

const TOOL = {
  name: "calc.add",
  description: "Adds two integers.",
  inputSchema: {
    type: "object",
    properties: { a: { type: "integer" }, b: { type: "integer" } },
    required: ["a", "b"],
  },
};

const SURFACE: Surface = {
  schemaVersion: "1",
  server: { name: "calculator", version: "1.0.0" },
  protocolVersion: "2025-06-18",
  capabilities: { tools: {}, resources: {} },
  instructions: "Adds.",
  tools: [TOOL],
  catalog: null,
};

/** A server with one tool and no resource, as a Node program. */
const PROGRAM = `
const http = require("node:http");
const surface = ${JSON.stringify(SURFACE)};
http.createServer((request, response) => {
  if (request.method !== "POST") return response.writeHead(405).end();
  let body = "";
  request.on("data", (chunk) => (body += chunk)).on("end", () => {
    const { id, method, params } = JSON.parse(body);
    if (id === undefined) return response.writeHead(202).end();
    const { protocolVersion, capabilities, server: serverInfo, instructions, tools } = surface;
    const results = {
      initialize: () => ({ protocolVersion, capabilities, serverInfo, instructions }),
      "tools/list": () => ({ tools }),
      "tools/call": () => ({ content: [{ type: "text", text: String(params.arguments.a + params.arguments.b) }] }),
      "resources/list": () => ({ resources: [] }),
      "resources/templates/list": () => ({ resourceTemplates: [] }),
      "prompts/list": () => ({ prompts: [] }),
      ping: () => ({}),
    };
    const answer = results[method];
    const reply = answer === undefined ? { error: { code: -32601, message: "no such method" } } : { result: answer() };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, ...reply }));
  });
}).listen(8000);
`;

/** The server of a check's treatment. `image` has Node. */
export function calculator(image: Digest): McpPlan {
  return {
    name: "calculator",
    image,
    command: ["node", "-e", PROGRAM],
    url: "http://calculator:8000/mcp",
    startMicros: 30_000_000,
    memoryBytes: 256 * 1024 * 1024,
    surface: SURFACE,
    catalogUri: null,
  };
}
