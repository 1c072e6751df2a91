import { rootCertificates } from "node:tls";
import { messageOf } from "../base/errors.ts";
import type { ModelApi } from "../base/formats/common.ts";
import type { GatewayModel } from "../base/formats/gateway-config.ts";
import { MODEL_PATHS } from "../base/formats/model-paths.ts";
import { forwardedHeaders, type HeaderList, headerValue } from "./headers.ts";
import { joinUrl } from "./join-url.ts";
import type { Provider } from "./provider.ts";
import { redactStream, secretForms } from "./secrets.ts";
import { askUpstream } from "./upstream.ts";

/** The agent's headers that a provider needs; its own credentials and everything else stay behind. */
const PASSED = ["content-type", "accept", "user-agent", "anthropic-version", "anthropic-beta", "openai-beta"];

/** Speaks to the study's provider. Nothing is tried twice here. */
export function liveProvider(model: GatewayModel): Provider {
  const base = model.baseUrl ?? "";
  const secrets = secretForms(model.apiKey);
  const ca = model.caPem === null ? undefined : [...rootCertificates, model.caPem];
  return {
    source: "live",
    served: () => null,
    async ask({ api, search, headers, bytes, signal }) {
      try {
        const {
          status,
          headers: answered,
          chunks,
        } = await askUpstream({
          url: joinUrl(base, MODEL_PATHS[api], search),
          method: "POST",
          headers: outgoing(api, headers, model.apiKey),
          body: bytes,
          signal,
          ca,
        });
        // Redaction can change the length, and the connection's framing says it anyway.
        const kept = forwardedHeaders(answered, ["content-length", "set-cookie"]);
        return { status, headers: kept, chunks: redactStream(chunks, secrets) };
      } catch (thrown) {
        return { cause: "unreachable", detail: messageOf(thrown) || String(thrown), requestDigest: null };
      }
    },
  };
}

function outgoing(api: ModelApi, headers: HeaderList, apiKey: string | null): HeaderList {
  const passed = headers.filter(([name]) => PASSED.includes(name));
  const own: HeaderList = [["accept-encoding", "identity"]];
  if (api === "messages") {
    if (apiKey !== null) own.push(["x-api-key", apiKey]);
    if (headerValue(passed, "anthropic-version") === undefined) own.push(["anthropic-version", "2023-06-01"]);
  } else if (apiKey !== null) {
    own.push(["authorization", `Bearer ${apiKey}`]);
  }
  return [...passed, ...own];
}
