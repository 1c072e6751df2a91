import type { Digest } from "../base/digest.ts";
import type { ModelApi, ModelSource } from "../base/formats/common.ts";
import type { ProviderCause } from "../base/formats/gateway-protocol.ts";
import type { ExactJson } from "../base/json.ts";
import type { HeaderList } from "./headers.ts";

/** A model request that passed every rule. */
export interface ModelCall {
  readonly api: ModelApi;
  /** Query of the agent's URL, such as `?beta=true`. */
  readonly search: string;
  readonly headers: HeaderList;
  /** The bytes that go out. */
  readonly bytes: Buffer;
  /** The agent's request, read. */
  readonly body: ExactJson;
  readonly stream: boolean;
  readonly signal: AbortSignal;
}

export interface ProviderAnswer {
  readonly status: number;
  readonly headers: HeaderList;
  readonly chunks: AsyncIterable<Buffer>;
}

/** Why there is no answer. */
export interface ProviderFailure {
  readonly cause: ProviderCause;
  readonly detail: string;
  readonly requestDigest: Digest | null;
}

/** Where answers come from: a live provider or a cassette. */
export interface Provider {
  readonly source: ModelSource;
  ask(call: ModelCall): Promise<ProviderAnswer | ProviderFailure>;
  /** How much of the cassette's conversation was served; null for a live provider. */
  served(): { readonly served: number; readonly unserved: number } | null;
}
