import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport, StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { McpError } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { messageOf } from "../../base/errors.ts";
import { sanitiseToolName } from "../../base/formats/tool-naming.ts";
import type { ExactJson } from "../../base/json.ts";
import { LoopEnded } from "./ended.ts";
import { makeExactFetch } from "./exact-fetch.ts";

/** A tool as the model is shown it. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: unknown;
}

export interface ToolOutcome {
  readonly text: string;
  readonly isError: boolean;
}

export interface McpTools extends AsyncDisposable {
  readonly offered: readonly OfferedTool[];
  /** The server's name of a tool that the model calls by its sanitised one. */
  readonly nameOf: (offered: string) => string | undefined;
  readonly call: (tool: string, given: { readonly [key: string]: ExactJson }) => Promise<ToolOutcome>;
}

// The server's schemas are handed on as they are: compiling or repairing them is nobody's business here.
const toolPage = z.looseObject({
  tools: z.array(
    z.looseObject({ name: z.string(), description: z.string().optional(), inputSchema: z.unknown().optional() }),
  ),
  nextCursor: z.string().optional(),
});
const callResult = z.looseObject({
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })).optional(),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});

/** The longest delay that a timer can have: calls end when the trial does. */
const NO_LIMIT = 2 ** 31 - 1;
const MAX_PAGES = 100;
const GRACE_MILLIS = 1000;

/** Connects to the MCP server and lists its tools. @throws LoopEnded `mcp` when that does not work. */
export async function connectMcp(url: string): Promise<McpTools> {
  const calls = new CallWatch();
  const exact = makeExactFetch(() => calls.streamEnded());
  const client = new Client({ name: "toolloop", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(url), { fetch: exact.fetch });
  client.onerror = (error) => {
    if (error.message.startsWith("Maximum reconnection attempts")) calls.lost();
  };
  try {
    await client.connect(transport, { timeout: NO_LIMIT });
    const offered = new Map<string, { readonly name: string; readonly tool: OfferedTool }>();
    let cursor: string | undefined;
    for (let page = 0; page === 0 || cursor !== undefined; page += 1) {
      if (page >= MAX_PAGES) throw new Error(`tools/list has more than ${MAX_PAGES} pages`);
      const params = cursor === undefined ? {} : { cursor };
      const listed = await client.request({ method: "tools/list", params }, toolPage, { timeout: NO_LIMIT });
      for (const { name, description, inputSchema } of listed.tools) {
        const shown = sanitiseToolName(name);
        if (shown === "shell" || offered.has(shown)) throw new Error(`two tools would be called ${shown}`);
        offered.set(shown, {
          name,
          tool: { name: shown, description: description ?? "", parameters: inputSchema ?? { type: "object" } },
        });
      }
      cursor = listed.nextCursor;
    }
    return {
      offered: [...offered.values()].map(({ tool }) => tool),
      nameOf: (shown) => offered.get(shown)?.name,
      call: (tool, given) => callTool(client, calls, tool, exact.carry(given) as Record<string, unknown>),
      [Symbol.asyncDispose]: async () => {
        // A server without sessions refuses to end one, and the loop is over either way.
        await transport.terminateSession().catch(() => undefined);
        await client.close();
        await exact.close();
      },
    };
  } catch (thrown) {
    await client.close().catch(() => undefined);
    await exact.close();
    throw new LoopEnded("mcp", `the MCP server at ${url} cannot be used: ${reasonOf(thrown)}`, thrown);
  }
}

/** Ends a call whose answer cannot come any more: the client library would wait for it until its time limit. */
class CallWatch {
  #fail: ((reason: Error) => void) | undefined;

  async guard<T>(work: Promise<T>): Promise<T> {
    const broken = new Promise<never>((_, reject) => {
      this.#fail = reject;
    });
    try {
      return await Promise.race([work, broken]);
    } finally {
      this.#fail = undefined;
    }
  }

  /** The answer's stream is over; what it carried may still be on its way through the client. */
  streamEnded(): void {
    const fail = this.#fail;
    setTimeout(() => fail?.(new Error("the stream ended without an answer")), GRACE_MILLIS).unref();
  }

  lost(): void {
    this.#fail?.(new Error("the stream was lost and could not be taken up again"));
  }
}

async function callTool(
  client: Client,
  calls: CallWatch,
  tool: string,
  given: Record<string, unknown>,
): Promise<ToolOutcome> {
  try {
    const request = { method: "tools/call", params: { name: tool, arguments: given } };
    // Asking for progress costs nothing, and tells a slow server from a dead one in the trace.
    const options = { timeout: NO_LIMIT, onprogress: () => undefined };
    const result = await calls.guard(client.request(request, callResult, options));
    return { text: visibleText(result), isError: result.isError === true };
  } catch (thrown) {
    if (thrown instanceof StreamableHTTPError && thrown.code === 429) {
      throw new LoopEnded("budget", "the budget of tool calls is exhausted", thrown);
    }
    // An error that the server answered with is the tool's result; everything else means that there is no server.
    if (thrown instanceof McpError && !thrown.message.endsWith("Connection closed")) {
      return { text: thrown.message, isError: true };
    }
    throw new LoopEnded("mcp", `the MCP server did not answer ${tool}: ${reasonOf(thrown)}`, thrown);
  }
}

function visibleText({ content = [], structuredContent }: z.infer<typeof callResult>): string {
  const texts = content.map((block) =>
    block.type === "text" ? (block.text ?? "") : `[${block.type}] ${JSON.stringify(block)}`,
  );
  if (texts.length === 0 && structuredContent !== undefined) return JSON.stringify(structuredContent);
  return texts.join("\n");
}

function reasonOf(thrown: unknown): string {
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? `: ${thrown.cause.message}` : "";
  return `${messageOf(thrown)}${cause}`;
}
