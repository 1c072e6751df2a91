import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A JSON-RPC message as a test reads it. */
export interface RpcMessage {
  readonly jsonrpc: "2.0";
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly [key: string]: unknown };
}

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

export interface StandIn extends AsyncDisposable {
  readonly url: string;
  readonly seen: readonly SeenRequest[];
}

export type Handler = (message: RpcMessage, response: ServerResponse, request: SeenRequest) => void | Promise<void>;

export interface StandInOptions {
  readonly tools?: readonly object[];
  /** Answers a method; returns false to leave it to the stand-in. */
  readonly on?: Readonly<Record<string, Handler>>;
  /** Sends a session id at initialize and asks for it afterwards. */
  readonly stateful?: boolean;
}

export const STAND_IN_TOOLS: readonly object[] = [
  {
    name: "math.run",
    description: "runs",
    inputSchema: { type: "object", properties: { flag: { type: ["boolean", "null"] } } },
  },
  { name: "math.find", description: "finds", inputSchema: { type: "object" } },
];

/** Writes one JSON-RPC message as the pinned server does: one event with CRLF line ends. */
export function sendEvent(response: ServerResponse, message: unknown): void {
  if (!response.headersSent)
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.write(`event: message\r\ndata: ${JSON.stringify(message)}\r\n\r\n`);
}

export function sendResult(response: ServerResponse, id: RpcMessage["id"], result: unknown): void {
  sendEvent(response, { jsonrpc: "2.0", id, result });
  response.end();
}

/** A tool result with structured content and the same as text. */
export function toolResult(document: unknown): object {
  return {
    content: [{ type: "text", text: JSON.stringify(document, null, 2) }],
    structuredContent: document,
    isError: false,
  };
}

/** An MCP server over streamable HTTP on a loopback port, with every byte in the test's hands. */
export async function startMcpServer(options: StandInOptions = {}): Promise<StandIn> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const record = {
        method: request.method ?? "",
        url: request.url ?? "",
        headers: request.headers,
        body: Buffer.concat(chunks),
      };
      seen.push(record);
      void answer(record, response, options);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    seen,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(request: SeenRequest, response: ServerResponse, options: StandInOptions): Promise<void> {
  response.on("error", () => undefined);
  if (request.method === "GET") {
    if (options.on?.GET) return void options.on.GET({ jsonrpc: "2.0" }, response, request);
    return void response.writeHead(405).end();
  }
  if (request.method === "DELETE") return void response.writeHead(options.stateful ? 200 : 405).end();
  const message = JSON.parse(request.body.toString("utf8")) as RpcMessage;
  if (options.stateful && message.method !== "initialize" && request.headers["mcp-session-id"] !== "session-1") {
    return void response.writeHead(400, { "content-type": "text/plain" }).end("no session");
  }
  const handler = options.on?.[message.method ?? ""];
  if (handler !== undefined) return await handler(message, response, request);
  if (message.id === undefined) return void response.writeHead(202).end();
  switch (message.method) {
    case "initialize":
      if (options.stateful) response.setHeader("mcp-session-id", "session-1");
      return sendResult(response, message.id, {
        protocolVersion: message.params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "stand-in", version: "1.2.3" },
        instructions: "Use the tools.",
      });
    case "tools/list":
      return sendResult(response, message.id, { tools: options.tools ?? STAND_IN_TOOLS });
    default:
      sendEvent(response, { jsonrpc: "2.0", id: message.id, error: { code: -32601, message: "Method not found" } });
      response.end();
  }
}
