import { setMaxListeners } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { messageOf, RunnerError } from "../base/errors.ts";
import type { CommandIo } from "./command.ts";
import { COMMANDS, GROUPS } from "./commands.ts";
import { createProgram } from "./program.ts";
import { exitCodeOfSignal, listenForSignals } from "./signals.ts";

// This file runs as dist/cli.mjs.
const projectRoot = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
const controller = new AbortController();
const say = (line: string): void => void process.stderr.write(`${line}\n`);
// Every wait of every trial listens to it.
setMaxListeners(0, controller.signal);
const received = listenForSignals(controller, say);

const io: CommandIo = {
  out: (text) => void process.stdout.write(text),
  say,
  env: process.env,
  cwd: process.cwd(),
  projectRoot,
  programs: new URL(".", import.meta.url),
  signal: controller.signal,
  interactive: process.stderr.isTTY === true && process.env.CI === undefined,
};

// A reader that goes away (`runner … | head`) is no error of ours.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

const asJson = process.argv.includes("--json");
const version: string = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8")).version;
try {
  process.exitCode = await createProgram(COMMANDS, GROUPS, version, io).parse(process.argv.slice(2));
} catch (thrown) {
  explain(thrown);
  process.exitCode = 2;
}
const signal = received();
if (signal !== undefined) process.exitCode = exitCodeOfSignal(signal);
// Keep-alive sockets of the engine would hold the process for seconds.
process.stdout.write("", () => process.exit());

function explain(thrown: unknown): void {
  const error = thrown instanceof RunnerError ? thrown : undefined;
  if (asJson) {
    const { code = "INTERNAL", hint, details } = error ?? {};
    io.out(`${JSON.stringify({ error: { code, message: messageOf(thrown), hint, details } })}\n`);
  }
  say(`runner: ${messageOf(thrown)}`);
  if (error?.hint !== undefined) say(`  ${error.hint}`);
  if (error === undefined && thrown instanceof Error && thrown.stack !== undefined) {
    say("  This is a fault of the runner itself; nothing it wrote is sealed. Please report it with these lines:");
    say(thrown.stack.split("\n").slice(1, 9).join("\n"));
  }
}
