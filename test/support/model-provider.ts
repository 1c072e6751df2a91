import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface SeenModelRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

export interface ModelProvider extends AsyncDisposable {
  /** The base URL, its version included. */
  readonly baseUrl: string;
  readonly seen: readonly SeenModelRequest[];
}

export type ModelHandler = (request: SeenModelRequest, response: ServerResponse) => void | Promise<void>;

/** A model provider on a loopback port that answers as the test says. */
export async function startModelProvider(handler: ModelHandler): Promise<ModelProvider> {
  const seen: SeenModelRequest[] = [];
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
      response.on("error", () => undefined);
      void handler(record, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    seen,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A Chat Completions answer in words. */
export function chatAnswer(text: string, usage: object | null = { prompt_tokens: 10, completion_tokens: 5 }): object {
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "model-1",
    choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }],
    ...(usage === null ? {} : { usage }),
  };
}

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}
