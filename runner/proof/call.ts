import type { Digest } from "../base/digest.ts";
import type { Endpoint } from "./config.ts";
import type { Role } from "./terms.ts";

/** Which call of a run this is, whatever the selection and the order of completion. */
export interface Scope {
  /** Proof id of an annotated proof, problem id of a generated one. */
  readonly item: string;
  readonly sample: number;
  readonly role: Role;
  /** Number of the judgment; 0 for the policy. */
  readonly repeat: number;
}

/** One model call. */
export interface Call {
  /** Its name within the run, such as `000012_003/verifier/7`. */
  readonly id: string;
  readonly scope: Scope;
  /** The exact request body. */
  readonly request: string;
  readonly digest: Digest;
}

/** What a call came to: a body, or the reason why there is none. Error bodies are never kept. */
export interface Outcome {
  readonly error: string | null;
  readonly body: string | null;
  readonly attempts: number;
  /** Microseconds, waiting included. */
  readonly micros: number;
  readonly redacted: boolean;
}

/** Answers calls: an endpoint, or a cassette in its place. */
export interface Transport extends AsyncDisposable {
  readonly ask: (call: Call) => Promise<Outcome>;
}

/** The request body: one user message, one answer, no stream; `generation` passes through. */
export function requestBody(endpoint: Endpoint, prompt: string): string {
  return JSON.stringify({
    model: endpoint.model,
    messages: [{ role: "user", content: prompt }],
    stream: false,
    n: 1,
    ...endpoint.generation,
  });
}
