import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import { RunnerError } from "../base/errors.ts";
import { type Attempt, attemptOnce } from "./attempt.ts";
import { jitteredWait } from "./backoff.ts";
import type { Call, Outcome } from "./call.ts";
import { completionsUrl, type Endpoint } from "./config.ts";
import type { Limiter } from "./limiter.ts";
import type { Redactor } from "./redact.ts";
import type { Role } from "./terms.ts";

/** Asks one endpoint. */
export interface EndpointClient extends AsyncDisposable {
  readonly ask: (call: Call) => Promise<Outcome>;
  /** Cuts off everything in flight and everyone who waits. */
  readonly abort: (reason: Error) => void;
}

export interface EndpointClientOptions {
  readonly role: Role;
  readonly endpoint: Endpoint;
  readonly key: string | undefined;
  readonly connections: number;
  readonly limiter: Limiter;
  readonly redactor: Redactor;
  /** Numbers in [0, 1) for the jitter. */
  readonly uniform: () => number;
  /** First bound of the wait after a failure, in milliseconds; it doubles with each further one. */
  readonly firstWaitMs: number;
}

/** Statuses that may go away by themselves. */
const TRANSIENT = new Set([408, 425, 429, 500, 502, 503, 504]);
/** Statuses that a first call gets at a wrong address, or without leave to be there. */
const WRONG_PLACE = new Set([403, 404, 405, 407]);
const OVERLOADED = new Set([429, 503]);
const LONGEST_WAIT_MS = 20_000;

/**
 * A client for one endpoint over pooled keep-alive connections. Only transient transport failures are repeated, `max_retries` times, after
 * jittered waits. 429 and 503 say that there is too much traffic, so they first shrink the number of calls in flight, and the repetitions
 * they cause are not counted until the endpoint's `rate_limit_patience_s` is over.
 * What no repetition can mend stops the run instead of being scored: a refused key (401), no credit (402), a redirect, 403, 404, 405 or 407
 * from an endpoint that has answered nothing yet, a server that cannot be reached, and an endpoint that takes no call at all for as long as the patience lasts.
 */
export function makeEndpointClient(options: EndpointClientOptions): EndpointClient {
  const { endpoint, limiter, role } = options;
  const url = completionsUrl(endpoint);
  const pool = new Pool(url.origin, {
    connections: options.connections,
    pipelining: 1,
    keepAliveTimeout: 60_000,
    keepAliveMaxTimeout: 600_000,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: Math.min(30_000, endpoint.timeout_s * 1000) },
  });
  const active = new Set<AbortController>();
  const stopped = new AbortController();
  // Every call that waits listens for the end.
  setMaxListeners(0, stopped.signal);
  let lastGood = Number.NEGATIVE_INFINITY;
  let stopReason: Error | undefined;

  const attempt = async (call: Call, again: boolean): Promise<Attempt> => {
    const ticket = await limiter.acquire(again);
    const timeoutMs = endpoint.timeout_s * 1000;
    const result = await attemptOnce(pool, {
      path: url.pathname,
      key: options.key,
      request: call.request,
      timeoutMs,
      active,
    });
    if (stopReason !== undefined && result.kind === "network") {
      limiter.release(ticket, "other");
      throw stopReason;
    }
    if (result.kind === "answered") lastGood = performance.now();
    if (isOverloaded(result) && result.retryAfterMs !== null) limiter.pause(result.retryAfterMs);
    limiter.release(ticket, result.kind === "answered" ? "good" : isOverloaded(result) ? "overloaded" : "other");
    return result;
  };

  const ask = async (call: Call): Promise<Outcome> => {
    const started = performance.now();
    let counted = 0;
    let overloadedSince: number | null = null;
    for (let attempts = 1; ; attempts += 1) {
      const result = await attempt(call, attempts > 1);
      const done = (error: string | null, body: string | null, redacted = false): Outcome => {
        return { error, body, attempts, micros: Math.round((performance.now() - started) * 1000), redacted };
      };
      if (result.kind === "answered") {
        const { body, redacted } = options.redactor.json(result.body);
        return done(null, body, redacted);
      }
      if (result.kind === "no-chat") return done("invalid_chat_response", null);
      const error = result.kind === "status" ? `HTTP_${result.status}` : "network_error";
      refuseHopeless(result, lastGood, role, url);
      if (result.kind === "status" && !TRANSIENT.has(result.status)) return done(error, null);
      overloadedSince = isOverloaded(result) ? (overloadedSince ?? performance.now()) : null;
      const patient =
        overloadedSince !== null &&
        endpoint.max_retries > 0 &&
        performance.now() - overloadedSince < endpoint.rate_limit_patience_s * 1000;
      if (!patient) counted += 1;
      if (counted > endpoint.max_retries) {
        if (result.kind === "network" && result.neverReached) throw unreachable(role, url, result.code);
        if (overloadedSince !== null && endpoint.max_retries > 0 && lastGood < overloadedSince) {
          throw exhausted(role, url, error, endpoint.rate_limit_patience_s);
        }
        return done(error, null);
      }
      const asked = result.kind === "status" ? result.retryAfterMs : null;
      // Jitter on top of what was asked for, or all who were refused together come back together.
      const jitter = jitteredWait(attempts, options.firstWaitMs, LONGEST_WAIT_MS, options.uniform());
      await sleep((asked ?? 0) + jitter, undefined, { signal: stopped.signal }).catch(() => undefined);
      if (stopReason !== undefined) throw stopReason;
    }
  };

  const abort = (reason: Error): void => {
    stopReason ??= reason;
    limiter.close(reason);
    stopped.abort();
    for (const controller of active) controller.abort(reason);
  };
  return {
    ask,
    abort,
    [Symbol.asyncDispose]: async () => {
      abort(new RunnerError("interrupted", "CLIENT_CLOSED", `the client of the "${role}" endpoint is closed`));
      await pool.destroy();
    },
  };
}

function isOverloaded(result: Attempt): result is Attempt & { kind: "status" } {
  return result.kind === "status" && OVERLOADED.has(result.status);
}

function refuseHopeless(result: Attempt, lastGood: number, role: Role, url: URL): void {
  if (result.kind !== "status") return;
  const everAnswered = Number.isFinite(lastGood);
  const hopeless =
    result.status === 401 ||
    result.status === 402 ||
    (!everAnswered && (WRONG_PLACE.has(result.status) || (result.status >= 300 && result.status < 400)));
  if (!hopeless) return;
  throw new RunnerError(
    "environment",
    "ENDPOINT_REFUSES",
    `the "${role}" endpoint ${url.origin}${url.pathname} answers HTTP ${result.status}: it takes no call from this config`,
    {
      hint: "Check the key, the credit, base_url and model, then continue with --resume: nothing was scored for this call.",
    },
  );
}

function unreachable(role: Role, url: URL, code: string): RunnerError {
  return new RunnerError(
    "environment",
    "ENDPOINT_UNREACHABLE",
    `the "${role}" endpoint ${url.origin} cannot be reached (${code})`,
    { hint: "Start the server or correct base_url, then continue with --resume: nothing was scored for this call." },
  );
}

function exhausted(role: Role, url: URL, error: string, patience: number): RunnerError {
  return new RunnerError(
    "environment",
    "ENDPOINT_OVERLOADED",
    `the "${role}" endpoint ${url.origin} has answered every call with ${error} for ${patience} s`,
    { hint: "Wait for the rate limit or quota, then continue with --resume: nothing was scored for this call." },
  );
}
