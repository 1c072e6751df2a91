import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { messageOf } from "../base/errors.ts";
import type { GatewayLimits } from "../base/formats/gateway-config.ts";
import type { Session } from "./session.ts";

export interface ServerRoutes {
  readonly session: Session;
  readonly limits: GatewayLimits;
  /** null: there is no forward proxy. */
  readonly connect: ((request: IncomingMessage, client: Duplex, head: Buffer) => Promise<void>) | null;
  readonly route: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
}

/** The agent-side listener with its limits: bounded headers, slow senders dropped, bounded connections. */
export function createAgentServer({ session, limits, connect, route }: ServerRoutes): Server {
  const { evidence } = session;
  const server = createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.requestMillis,
    requestTimeout: limits.requestMillis,
    connectionsCheckingInterval: Math.min(limits.requestMillis, 1000),
    keepAliveTimeout: 30_000,
    noDelay: true,
  });
  server.maxConnections = limits.connections;
  const broken = (method: string, path: string, status: number, detail: string) =>
    evidence.emit({ type: "request-refused", exchange: session.nextExchange(), method, path, status, detail });

  server.on("request", (request, response) => {
    route(request, response).catch((thrown: unknown) => {
      broken(request.method ?? "?", request.url ?? "?", 500, messageOf(thrown));
      response.destroy();
    });
  });
  server.on("connect", (request, socket, head) => {
    if (connect === null) {
      broken("CONNECT", request.url ?? "?", 405, "this trial has no forward proxy");
      socket.on("error", () => socket.destroy());
      socket.end("HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n");
      return;
    }
    connect(request, socket, head).catch((thrown: unknown) => {
      broken("CONNECT", request.url ?? "?", 500, messageOf(thrown));
      socket.destroy();
    });
  });
  server.on("upgrade", (request, socket) => {
    broken(request.method ?? "?", request.url ?? "?", 400, "a change of protocol is not part of any route");
    socket.on("error", () => socket.destroy());
    socket.end("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const status = statusOf(error.code);
    if (status !== null) broken("?", "?", status, `${error.code}: ${error.message}`);
    if (status === null || !socket.writable) socket.destroy();
    else socket.end(`HTTP/1.1 ${status} Refused\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
  });
  server.on("drop", (data) => {
    broken("?", "?", 503, `more than ${limits.connections} connections, from ${data?.remoteAddress ?? "?"}`);
  });
  return server;
}

/** Ends every connection of a server and waits until it is closed. */
export async function closeServer(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  for (const socket of sockets) socket.destroy();
  await closed;
}

function statusOf(code: string | undefined): number | null {
  if (code === "HPE_HEADER_OVERFLOW") return 431;
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return 408;
  return code?.startsWith("HPE_") ? 400 : null;
}
