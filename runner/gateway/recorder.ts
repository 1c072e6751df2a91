import type { CassetteInput, Normalizers } from "../base/formats/cassette.ts";
import type { ModelApi } from "../base/formats/common.ts";
import type { TrialScope } from "../base/formats/gateway-config.ts";
import type { ExactJson } from "../base/json.ts";
import type { HeaderList } from "./headers.ts";
import { makeNormalise } from "./replay/normalise.ts";

type Exchange = CassetteInput["conversations"][number]["exchanges"][number];

/** Collects a live conversation as a cassette: requests in their normalised form, answers byte for byte. */
export class Recorder {
  readonly #scope: TrialScope;
  readonly #normalizers: Normalizers;
  readonly #exchanges = new Map<ModelApi, Exchange[]>();

  constructor(scope: TrialScope, normalizers: Normalizers) {
    this.#scope = scope;
    this.#normalizers = normalizers;
  }

  /** Adds one whole exchange. */
  add(api: ModelApi, request: ExactJson, answer: { status: number; headers: HeaderList; bytes: Buffer }): void {
    const text = answer.bytes.toString("utf8");
    const exact = Buffer.from(text, "utf8").equals(answer.bytes);
    const kept = answer.headers.filter(([name]) => name === "content-type" || name === "retry-after");
    const exchanges = this.#exchanges.get(api) ?? [];
    this.#exchanges.set(api, exchanges);
    exchanges.push({
      match: { body: makeNormalise(this.#normalizers)(request) },
      response: {
        status: answer.status,
        headers: Object.fromEntries(kept),
        ...(exact ? { text } : { base64: answer.bytes.toString("base64") }),
      },
    });
  }

  /** The cassette; null when nothing was recorded. */
  cassette(): CassetteInput | null {
    if (this.#exchanges.size === 0) return null;
    return {
      schemaVersion: "1",
      modelSource: "recorded",
      normalizers: this.#normalizers,
      conversations: [...this.#exchanges].map(([api, exchanges]) => ({ scope: { ...this.#scope, api }, exchanges })),
    };
  }
}
