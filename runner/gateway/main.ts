import { systemClock } from "../base/clock.ts";
import { GATEWAY_PATHS } from "../base/formats/gateway-config.ts";
import type { GatewayNotice } from "../base/formats/gateway-protocol.ts";
import { runControl } from "./control.ts";
import { survey } from "./preflight/survey.ts";

const say = (message: object): void => void process.stdout.write(`${JSON.stringify(message)}\n`);

const [, , mode, request] = process.argv;
if (mode === "survey") say(await survey(request ?? "", new AbortController().signal));
else {
  process.exitCode = await runControl({
    commands: process.stdin,
    notify: (notice: GatewayNotice) => say(notice),
    clock: systemClock,
    paths: { config: GATEWAY_PATHS.config, cassette: GATEWAY_PATHS.cassette, evidence: GATEWAY_PATHS.evidence },
    listen: { port: GATEWAY_PATHS.port, host: "0.0.0.0" },
  });
}
// Sockets of agents and servers that are still open must not keep a finished gateway alive.
process.stdout.write("", () => process.exit());
