import type { Clock } from "../base/clock.ts";
import { messageOf, RunnerError } from "../base/errors.ts";
import { type GatewayCommand, type GatewayNotice, gatewayCommandSchema } from "../base/formats/gateway-protocol.ts";
import { readLines } from "../base/lines.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import { Gateway } from "./gateway.ts";
import { loadConfig } from "./load-config.ts";

/** The version of the gateway's behaviour, recorded in every trace. */
export const GATEWAY_VERSION = "1";

export interface ControlOptions {
  readonly commands: AsyncIterable<Uint8Array>;
  readonly notify: (notice: GatewayNotice) => void;
  readonly clock: Clock;
  readonly paths: { readonly config: string; readonly cassette: string; readonly evidence: string };
  readonly listen: { readonly port: number; readonly host: string };
}

type FatalCode = Extract<GatewayNotice, { notice: "fatal" }>["code"];

class Fatal extends Error {
  readonly code: FatalCode;

  constructor(code: FatalCode, thrown: unknown) {
    super(messageOf(thrown), { cause: thrown });
    this.code = code;
  }
}

/**
 * Carries out the runner's commands until `finish`, or until the runner is gone (the end of the commands), which also finishes.
 * Returns the exit code: 0 when the evidence is complete, else 1.
 */
export async function runControl(options: ControlOptions): Promise<0 | 1> {
  const { notify } = options;
  const failure = new AbortController();
  const failed = new Promise<"failed">((resolve) =>
    failure.signal.addEventListener("abort", () => resolve("failed"), { once: true }),
  );
  let gateway: Gateway | null = null;
  notify({ notice: "idle", version: GATEWAY_VERSION });
  const lines = readLines(options.commands, 64 * 1024);
  try {
    for (;;) {
      // The evidence can fail while no command comes, and nothing may go on without it.
      const next = await Promise.race([lines.next(), failed]);
      if (next === "failed" || next.done === true) break;
      const command = readCommand(next.value.bytes);
      if (command.do === "configure") gateway = configure(options, gateway, () => failure.abort());
      else if (gateway === null) throw new Fatal("command", new Error(`${command.do} came before configure`));
      else if (command.do === "finish") break;
      else await carryOut(command.do, gateway, options);
    }
    return gateway !== null && (await gateway.finish()) ? 0 : 1;
  } catch (thrown) {
    const fatal = thrown instanceof Fatal ? thrown : new Fatal("internal", thrown);
    await gateway?.agentEnded();
    notify({ notice: "fatal", code: fatal.code, detail: fatal.message });
    return 1;
  }
}

function readCommand(bytes: Buffer): GatewayCommand {
  try {
    return parseInput(gatewayCommandSchema, parseStrictJson(bytes, { source: "a command" }), "a command");
  } catch (thrown) {
    throw new Fatal("command", thrown);
  }
}

function configure(options: ControlOptions, before: Gateway | null, onFailed: () => void): Gateway {
  if (before !== null) throw new Fatal("command", new Error("configure came twice"));
  const { paths, clock, notify } = options;
  try {
    const loaded = loadConfig(paths);
    const gateway = new Gateway({
      ...loaded,
      folder: paths.evidence,
      version: GATEWAY_VERSION,
      clock,
      notify,
      onFailed,
    });
    notify({ notice: "configured" });
    return gateway;
  } catch (thrown) {
    throw new Fatal(
      thrown instanceof RunnerError && thrown.code.startsWith("CASSETTE") ? "cassette" : "config",
      thrown,
    );
  }
}

async function carryOut(
  command: Exclude<GatewayCommand["do"], "configure" | "finish">,
  gateway: Gateway,
  { listen, notify }: ControlOptions,
): Promise<void> {
  switch (command) {
    case "listen":
      try {
        notify({ notice: "ready", port: await gateway.listen(listen.port, listen.host) });
      } catch (thrown) {
        throw new Fatal("listen", thrown);
      }
      return;
    case "preflight":
      return await gateway.preflight();
    case "agent-started":
      return gateway.agentStarted();
    case "agent-ended":
      return await gateway.agentEnded();
  }
}
