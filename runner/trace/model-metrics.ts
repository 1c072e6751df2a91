import type { TraceEvent } from "../base/formats/trace-events.ts";
import { isUnknown, type Known, sumKnown, unknown } from "../base/unknown.ts";
import type { ModelExchange } from "./conversation.ts";

export interface TokenTotals {
  readonly input: Known<number>;
  readonly cachedInput: Known<number>;
  readonly cacheWriteInput: Known<number>;
  readonly output: Known<number>;
  readonly reasoning: Known<number>;
}

export interface ModelMetrics {
  /** Requests that went out to the model. */
  readonly requests: number;
  /** Requests that the gateway refused. */
  readonly refused: number;
  readonly providerErrors: number;
  /** Summed once a request; one request without usage makes a total unknown. */
  readonly tokens: TokenTotals;
  readonly requestsWithoutUsage: number;
  readonly costMicroUsd: Known<number>;
  /** Models that answered, as they named themselves, each once. */
  readonly observedModels: Known<readonly string[]>;
  /** Time from each request to its recorded answer, summed. */
  readonly micros: Known<number>;
}

/** Counts and sums over the model requests of a trial. */
export function modelMetrics(events: readonly TraceEvent[], exchanges: readonly ModelExchange[]): ModelMetrics {
  const total = (read: (response: NonNullable<ModelExchange["response"]>) => Known<number>): Known<number> =>
    sumKnown(
      exchanges.map(({ request, response }) =>
        response === null ? unknown("missing", `${request.exchange} has no recorded answer`) : read(response),
      ),
    );
  const withoutUsage = exchanges.filter(
    ({ response }) => response === null || isUnknown(response.usage.input) || isUnknown(response.usage.output),
  );
  const models = exchanges.map(({ response }) => response?.observedModel).filter((model) => model !== undefined);
  const nameless = models.find((model) => isUnknown(model));
  return {
    requests: exchanges.length,
    refused: events.filter(({ type }) => type === "model-refused").length,
    providerErrors: events.filter(({ type }) => type === "provider-error").length,
    tokens: {
      input: total(({ usage }) => usage.input),
      cachedInput: total(({ usage }) => usage.cachedInput),
      cacheWriteInput: total(({ usage }) => usage.cacheWriteInput),
      output: total(({ usage }) => usage.output),
      reasoning: total(({ usage }) => usage.reasoning),
    },
    requestsWithoutUsage: withoutUsage.length,
    costMicroUsd: total(({ costMicroUsd }) => costMicroUsd),
    observedModels: nameless ?? [...new Set(models.filter((model) => typeof model === "string"))].sort(),
    micros: sumKnown(
      exchanges.map(({ request, response }) =>
        response === null ? unknown("missing", `${request.exchange} has no recorded answer`) : response.us - request.us,
      ),
    ),
  };
}
