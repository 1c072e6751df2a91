import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** What the endpoint does with one request. */
export type Behaviour =
  | {
      readonly content: string | null;
      readonly finish?: string;
      readonly reasoning?: string;
      readonly delayMs?: number;
      readonly model?: string;
    }
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | { readonly raw: string }
  | { readonly broken: "reset" | "truncated" };

export interface Asked {
  readonly model: string;
  readonly prompt: string;
  /** How often this model was asked before. */
  readonly nth: number;
  readonly authorization: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A Chat Completions endpoint on the loopback that does what a test says. */
export interface ScriptedEndpoint extends AsyncDisposable {
  readonly url: string;
  readonly asked: Asked[];
  /** Most requests at one time, and connections that were ever made. */
  readonly most: () => number;
  readonly connections: () => number;
}

export async function scriptedEndpoint(behave: (asked: Asked) => Behaviour): Promise<ScriptedEndpoint> {
  const asked: Asked[] = [];
  const counts = new Map<string, number>();
  let [now, most, connections] = [0, 0, 0];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    now += 1;
    most = Math.max(most, now);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    const nth = counts.get(body.model) ?? 0;
    counts.set(body.model, nth + 1);
    const one: Asked = {
      model: body.model,
      prompt: body.messages[0].content,
      nth,
      authorization: request.headers.authorization,
      body,
    };
    asked.push(one);
    const behaviour = behave(one);
    if ("delayMs" in behaviour && behaviour.delayMs !== undefined) await sleep(behaviour.delayMs);
    now -= 1;
    send(response, behaviour);
  };
  const server = createServer((request, response) => void answer(request, response));
  server.on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    most: () => most,
    connections: () => connections,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The body of a chat completion. */
export function completion(
  content: string | null,
  finish = "stop",
  reasoning?: string,
  model = "answering-model",
): string {
  const message = { role: "assistant", content, ...(reasoning !== undefined && { reasoning_content: reasoning }) };
  return JSON.stringify({
    model,
    choices: [{ index: 0, message, finish_reason: finish }],
    usage: { prompt_tokens: 100, completion_tokens: 10 },
  });
}

function send(response: ServerResponse, behaviour: Behaviour): void {
  if ("broken" in behaviour) {
    if (behaviour.broken === "reset") response.socket?.resetAndDestroy();
    else {
      const body = completion("x".repeat(5000));
      response.writeHead(200, { "content-type": "application/json", "content-length": String(body.length) });
      response.write(body.slice(0, 2000), () => response.socket?.destroy());
    }
  } else if ("status" in behaviour) {
    response.writeHead(behaviour.status, behaviour.headers ?? {});
    response.end(behaviour.body ?? "");
  } else if ("raw" in behaviour) {
    response.end(behaviour.raw);
  } else {
    response.end(completion(behaviour.content, behaviour.finish, behaviour.reasoning, behaviour.model));
  }
}
