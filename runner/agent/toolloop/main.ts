import { readFileSync } from "node:fs";
import { messageOf } from "../../base/errors.ts";
import { parseStrictJson } from "../../base/strict-json.ts";
import { parseInput } from "../../base/zod-input.ts";
import { TOOLLOOP_EXIT, type ToolloopConfig, toolloopConfigSchema } from "./config.ts";
import { type LoopEvent, runLoop } from "./loop.ts";

const say = (event: LoopEvent) => void process.stdout.write(`${JSON.stringify(event)}\n`);

async function main(): Promise<number> {
  const path = process.argv[2];
  let config: ToolloopConfig;
  try {
    const source = path ?? "the standard input";
    const text = readFileSync(path ?? 0);
    config = parseInput<ToolloopConfig>(toolloopConfigSchema, parseStrictJson(text, { source }), source);
  } catch (thrown) {
    say({ type: "end", reason: "config", detail: messageOf(thrown) });
    return TOOLLOOP_EXIT.config;
  }
  try {
    return TOOLLOOP_EXIT[await runLoop(config, say)];
  } catch (thrown) {
    say({ type: "end", reason: "internal", detail: messageOf(thrown) });
    return TOOLLOOP_EXIT.internal;
  }
}

const code = await main();
// Background processes of the shell may hold pipes open; the loop ends without them.
process.stdout.write("", () => process.exit(code));
