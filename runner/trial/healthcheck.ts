import { setTimeout as sleep } from "node:timers/promises";
import { createCapture, tailText } from "../docker/capture.ts";
import type { Container } from "../docker/container.ts";
import type { Healthcheck } from "../task/model.ts";
import { TrialFailure } from "./failure.ts";
import type { TrialWorld } from "./world.ts";

/**
 * Runs a healthcheck until it succeeds. Failures inside the start period do not count; after it, `retries` in a row make the task's
 * environment unusable.
 * @throws TrialFailure `infra_error` `HEALTHCHECK_FAILED` with the command's last words.
 */
export async function awaitHealthy(
  world: TrialWorld,
  container: Container,
  check: Healthcheck,
  user: string | null,
  signal: AbortSignal,
): Promise<void> {
  const started = world.clock.micros();
  let failures = 0;
  for (;;) {
    const output = createCapture({ headBytes: 0, tailBytes: 4096 });
    const result = await container.exec({
      argv: ["/bin/sh", "-c", check.command],
      ...(user === null ? {} : { user }),
      timeoutMicros: check.timeoutMicros,
      stdout: output.write,
      stderr: output.write,
      clock: world.clock,
      signal,
    });
    if (result.endedBy === "self" && result.exitCode === 0) return;
    signal.throwIfAborted();
    const starting = world.clock.micros() - started < check.startPeriodMicros;
    if (!starting) failures += 1;
    if (failures >= check.retries || result.endedBy === "container-died") {
      const why = result.endedBy === "self" ? `exit code ${result.exitCode ?? "unknown"}` : result.endedBy;
      throw new TrialFailure(
        "infra_error",
        "HEALTHCHECK_FAILED",
        `the healthcheck ${JSON.stringify(check.command)} failed ${failures} times, last with ${why}: ${tailText(output.captured()).trim()}`,
      );
    }
    await sleep((starting ? check.startIntervalMicros : check.intervalMicros) / 1000, undefined, { signal });
  }
}
