import { setTimeout as sleep } from "node:timers/promises";
import type { ExitMeaning } from "../agent/model-agent.ts";
import type { Container } from "../docker/container.ts";
import type { ObjectStore } from "../evidence/store.ts";
import { startDeadline } from "./deadline.ts";
import type { GatewayLink, GatewayTrouble } from "./gateway-link.ts";
import { captureOutput } from "./output-capture.ts";
import type { AgentEnd, CaptureRecord } from "./record.ts";
import { watchStorage } from "./watch-storage.ts";
import type { TrialWorld } from "./world.ts";

/** What runs in the agent's container. */
export interface AgentJob {
  readonly argv: readonly string[];
  readonly env: readonly string[];
  /** null: the image's user. */
  readonly user: string | null;
  /** Why this agent ended; absent: exit code 0 is a good end, everything else a crash. */
  readonly explain?: (
    store: Pick<ObjectStore, "readAll">,
    exitCode: number,
    output: AgentRun["output"],
  ) => Promise<ExitMeaning>;
}

/** Which limits end the agent. */
export interface AgentLimits {
  /** Microseconds and whose limit it is; null when neither task nor study has one. */
  readonly time: { readonly micros: number; readonly of: "task" | "study" } | null;
  /** Bytes the writable layer may grow to; polled, so a soft limit. */
  readonly storageBytes: number | null;
}

/** How the agent ended and what it printed. */
export interface AgentRun {
  readonly end: AgentEnd;
  readonly output: { readonly stdout: CaptureRecord; readonly stderr: CaptureRecord };
  /** What the gateway reported that ended it, where it did. */
  readonly trouble: GatewayTrouble | null;
  /** Why it ended by itself, where it did and tells. */
  readonly meaning: ExitMeaning | null;
  /** That its storage limit could not be checked at times, where it could not. */
  readonly unwatched: string | null;
}

type Stop =
  | { readonly why: "ended"; readonly exitCode: number | null; readonly died: string | null }
  | { readonly why: "timeout" }
  | { readonly why: "storage"; readonly bytes: number }
  | { readonly why: "trouble"; readonly trouble: GatewayTrouble };

/** How long a refused budget may take the agent to notice and finish by itself. */
const BUDGET_GRACE_MS = 5_000;
/** How long a notice of the gateway may be on its way. */
const NOTICE_GRACE_MS = 1_000;

/**
 * Runs the agent and ends it: by itself, at the time limit, at a budget, or because the gateway saw trouble. Whatever the reason, the
 * whole container is killed before this returns, so that no process of the agent lives on.
 */
export async function runAgent(
  world: TrialWorld,
  container: Container,
  job: AgentJob,
  limits: AgentLimits,
  link: GatewayLink | null,
  signal: AbortSignal,
): Promise<AgentRun> {
  using stdout = captureOutput(world.store);
  using stderr = captureOutput(world.store);
  using deadline = startDeadline(limits.time?.micros ?? null);
  const over = new AbortController();
  const running = container
    .exec({
      argv: job.argv,
      env: job.env,
      ...(job.user === null ? {} : { user: job.user }),
      stdout: stdout.sink,
      stderr: stderr.sink,
      clock: world.clock,
      signal,
    })
    .then(
      (result): Stop => ({
        why: "ended",
        exitCode: result.exitCode,
        died:
          result.endedBy === "container-died"
            ? `the container ended with exit code ${result.container?.exitCode ?? "unknown"}${result.container?.oomKilled ? ", out of memory" : ""}`
            : null,
      }),
    );
  const stops: Promise<Stop>[] = [running, deadline.over.then(() => ({ why: "timeout" }))];
  if (link !== null) stops.push(link.firstTrouble.then((trouble) => ({ why: "trouble", trouble })));
  const storage = limits.storageBytes === null ? null : watchStorage(container, limits.storageBytes, over.signal);
  if (storage !== null) stops.push(storage.over.then((bytes) => ({ why: "storage", bytes })));
  let stop: Stop;
  try {
    stop = await Promise.race(stops);
    if (stop.why === "trouble" && stop.trouble.notice === "budget-exhausted") {
      // The refusal is on its way to the agent, which may still write its answer; it gets no more from the model.
      await Promise.race([
        running.catch(() => undefined),
        deadline.over,
        sleep(BUDGET_GRACE_MS, undefined, { signal }),
      ]);
    }
  } finally {
    over.abort();
    await container.kill();
  }
  await running.catch((thrown: unknown) => {
    if (stop.why === "ended") throw thrown;
  });
  signal.throwIfAborted();
  const output = { stdout: await stdout.finish(), stderr: await stderr.finish() };
  const meaning =
    stop.why === "ended" && stop.exitCode !== null && job.explain !== undefined
      ? await job.explain(world.store, stop.exitCode, output)
      : null;
  if (stop.why === "ended" && meaning !== null && meaning.kind !== "self" && link !== null) {
    // The gateway sees the cause first, but its word may come later than the agent's end.
    const trouble = link.trouble() ?? (await soonest(link.firstTrouble, signal));
    if (trouble?.notice === "budget-exhausted") stop = { why: "trouble", trouble };
  }
  return {
    end: describeEnd(stop, limits, meaning),
    output,
    trouble: stop.why === "trouble" ? stop.trouble : (link?.trouble() ?? null),
    meaning: stop.why === "ended" ? meaning : null,
    unwatched: storage?.missed() ?? null,
  };
}

/** What the gateway says within a moment, if anything. */
async function soonest(trouble: Promise<GatewayTrouble>, signal: AbortSignal): Promise<GatewayTrouble | undefined> {
  return await Promise.race([trouble, sleep(NOTICE_GRACE_MS, undefined, { signal })]);
}

function describeEnd(stop: Stop, limits: AgentLimits, meaning: ExitMeaning | null): AgentEnd {
  switch (stop.why) {
    case "timeout":
      return {
        by: "timeout",
        exitCode: null,
        detail: `the ${limits.time?.of}'s limit of ${(limits.time?.micros ?? 0) / 1e6} s`,
      };
    case "storage":
      return {
        by: "budget",
        exitCode: null,
        detail: `the task's storage limit of ${limits.storageBytes} bytes: ${stop.bytes} written`,
      };
    case "trouble":
      // The gateway keeps the study's time as well; whichever of the two clocks fires first, it is the same limit.
      if (stop.trouble.notice === "budget-exhausted" && stop.trouble.budget === "agentSeconds") {
        return { by: "timeout", exitCode: null, detail: `the study's limit of ${stop.trouble.limit} s` };
      }
      return stop.trouble.notice === "budget-exhausted"
        ? {
            by: "budget",
            exitCode: null,
            detail: `${stop.trouble.budget}: ${stop.trouble.used} used of ${stop.trouble.limit}`,
          }
        : { by: "crash", exitCode: null, detail: `ended because of the gateway's ${stop.trouble.notice}` };
    case "ended":
      return stop.died === null
        ? describeExit(stop.exitCode, meaning)
        : { by: "crash", exitCode: null, detail: stop.died };
  }
}

function describeExit(exitCode: number | null, meaning: ExitMeaning | null): AgentEnd {
  if (meaning !== null) return { by: meaning.kind === "self" ? "self" : "crash", exitCode, detail: meaning.detail };
  if (exitCode === 0) return { by: "self", exitCode, detail: null };
  return { by: "crash", exitCode, detail: `the agent ended with exit code ${exitCode ?? "unknown"}` };
}
