import { AsyncStack } from "../base/stack.ts";
import type { Call, Outcome, Transport } from "./call.ts";
import { type Config, completionsUrl, type Endpoint } from "./config.ts";
import { type EndpointClient, makeEndpointClient } from "./endpoint-client.ts";
import { type Limiter, makeLimiter } from "./limiter.ts";
import type { Redactor } from "./redact.ts";
import type { Role } from "./terms.ts";

export interface LiveOptions {
  readonly config: Config;
  readonly keys: ReadonlyMap<Role, string>;
  readonly concurrency: number;
  readonly redactor: Redactor;
  readonly uniform: () => number;
  readonly firstWaitMs: number;
}

/** A transport that can be cut off. */
export interface Abortable extends Transport {
  readonly abort: (reason: Error) => void;
}

/** Asks the endpoints of a config. Roles that share endpoint and model share what is learnt about its limits. */
export function liveTransport(options: LiveOptions): Abortable {
  const limiters = new Map<string, Limiter>();
  const clients = new Map<Role, EndpointClient>();
  for (const [role, endpoint] of Object.entries(options.config) as [Role, Endpoint][]) {
    const place = `${completionsUrl(endpoint)} ${endpoint.model}`;
    const limiter = limiters.get(place) ?? makeLimiter(options.concurrency);
    limiters.set(place, limiter);
    const { redactor, uniform, firstWaitMs } = options;
    const key = options.keys.get(role);
    clients.set(
      role,
      makeEndpointClient({
        role,
        endpoint,
        key,
        connections: options.concurrency,
        limiter,
        redactor,
        uniform,
        firstWaitMs,
      }),
    );
  }
  return {
    ask: (call: Call): Promise<Outcome> => {
      const client = clients.get(call.scope.role);
      if (client === undefined) throw new TypeError(`no endpoint for the role ${call.scope.role}`);
      return client.ask(call);
    },
    abort: (reason) => {
      for (const client of clients.values()) client.abort(reason);
    },
    [Symbol.asyncDispose]: async () => {
      const stack = new AsyncStack();
      for (const client of clients.values()) stack.use(client);
      await stack.disposeAsync();
    },
  };
}
