import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { digestJson } from "../../runner/base/digest.ts";
import { printExact } from "../../runner/base/formats/plain-json.ts";
import { isObject, type Json } from "../../runner/base/json.ts";
import { parseExactJson } from "../../runner/base/strict-json.ts";

/** One recorded exchange with the pinned Jacobian. */
export interface JacobianFixture {
  readonly name: string;
  readonly note: string;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string | null;
  };
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  };
}

const FOLDER = new URL("../fixtures/jacobian/", import.meta.url);

/** Every recorded exchange, in order of the names. */
export function jacobianFixtures(): JacobianFixture[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => ({
      name: name.slice(0, -".json".length),
      ...(JSON.parse(readFileSync(new URL(name, FOLDER), "utf8")) as Omit<JacobianFixture, "name">),
    }));
}

export function jacobianFixture(name: string): JacobianFixture {
  const found = jacobianFixtures().find((fixture) => fixture.name === name);
  if (found === undefined) throw new Error(`there is no fixture ${name}`);
  return found;
}

/** A request without its id and what clients add for themselves. */
function keyOf(method: string, body: string): string {
  if (method !== "POST") return method;
  try {
    const { method: name = null, params = {} } = JSON.parse(body) as { method?: string; params?: { _meta?: Json } };
    if (name === "initialize") return name;
    const { _meta, ...own } = params;
    return digestJson([name, own as Json]);
  } catch {
    return body;
  }
}

/** A stand-in that answers exactly what was recorded, under the caller's request ids; anything else is answered with 501. */
export async function startRecordedJacobian(): Promise<{ readonly url: string } & AsyncDisposable> {
  const answers = new Map(
    jacobianFixtures().map((fixture) => [keyOf(fixture.request.method, fixture.request.body ?? ""), fixture]),
  );
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      if (request.method === "GET") return void response.writeHead(405).end();
      const fixture = answers.get(keyOf(request.method ?? "", body));
      if (fixture === undefined) return void response.writeHead(501).end(`not recorded: ${body}`);
      const { status, headers, body: recorded } = fixture.response;
      response.writeHead(status, { ...headers }).end(withId(recorded, body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function withId(recorded: string, request: string): string {
  try {
    const message = parseExactJson(request, { source: "a request" });
    if (!isObject(message) || message.id === undefined) return recorded;
    return recorded.replace(/"id":[0-9]+/, `"id":${printExact(message.id as never)}`);
  } catch {
    return recorded;
  }
}
