import { type Digest, digestJson } from "../../base/digest.ts";
import type { ModelApi } from "../../base/formats/common.ts";
import { MODEL_PATHS } from "../../base/formats/model-paths.ts";
import type { Json } from "../../base/json.ts";

/** The digest under which a cassette knows a request: method, path and normalised body. */
export function requestKey(api: ModelApi, normalisedBody: Json): Digest {
  return digestJson({ method: "POST", path: MODEL_PATHS[api], body: normalisedBody });
}
