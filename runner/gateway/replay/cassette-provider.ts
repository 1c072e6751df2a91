import type { Digest } from "../../base/digest.ts";
import type { Cassette, CassetteExchange } from "../../base/formats/cassette.ts";
import type { ModelApi } from "../../base/formats/common.ts";
import { modelTurns } from "../../base/formats/conversation.ts";
import type { GatewayConfig } from "../../base/formats/gateway-config.ts";
import { offeredToolNames, requestItems } from "../../base/formats/model-request.ts";
import type { ModelCall, Provider } from "../provider.ts";
import { failureOf, type SeenRequest } from "./assertions.ts";
import { chooseConversation, fittingConversations } from "./choose-conversation.ts";
import { differences } from "./difference.ts";
import { makeNormalise, type Normalise } from "./normalise.ts";
import { renderExact, renderReply } from "./render.ts";
import { requestKey } from "./request-key.ts";

interface Seen extends SeenRequest {
  readonly api: ModelApi;
  readonly digest: Digest;
  readonly turn: number;
  readonly offersTools: boolean;
}

/**
 * Answers from a cassette: each exchange once, the first in the file that fits. A request that none fits is a miss, and says which
 * exchange came nearest and why it does not fit.
 */
export function cassetteProvider(cassette: Cassette, config: GatewayConfig): Provider {
  const normalise = makeNormalise(cassette.normalizers);
  const fitting = fittingConversations(cassette, config.scope);
  const served = new Set<CassetteExchange>();
  const touched = new Set<readonly CassetteExchange[]>();
  return {
    source: cassette.modelSource === "recorded" ? "replayed" : "scripted",
    async ask(call) {
      const seen = look(call, normalise);
      const exchanges = chooseConversation(fitting, call.api)?.exchanges ?? [];
      touched.add(exchanges);
      const open = exchanges.filter((exchange) => !served.has(exchange));
      const hit = open.find((exchange) => misfit(exchange, seen, normalise) === null);
      if (hit === undefined) {
        const detail = describeMiss(exchanges, open, seen, normalise);
        return { cause: "cassette-miss", detail, requestDigest: seen.digest };
      }
      served.add(hit);
      if (hit.reply !== undefined) return renderReply(hit.reply, call, seen.turn, config);
      return renderExact(hit.response ?? { status: 500, headers: {} });
    },
    served() {
      const all = (touched.size > 0 ? [...touched] : fitting.slice(0, 1).map(({ exchanges }) => exchanges)).flat();
      return { served: served.size, unserved: all.length - served.size };
    },
  };
}

function look({ api, body: raw }: ModelCall, normalise: Normalise): Seen {
  const body = normalise(raw);
  const items = requestItems(api, body);
  return {
    api,
    body,
    items,
    digest: requestKey(api, body),
    turn: modelTurns(items) + 1,
    offersTools: offeredToolNames(api, body).length > 0,
  };
}

/** Why an exchange does not answer a request; null when it does. */
function misfit({ match }: CassetteExchange, seen: Seen, normalise: Normalise): string | null {
  if ("digest" in match) return match.digest === seen.digest ? null : `its digest is ${match.digest}`;
  if ("body" in match) {
    const wanted = normalise(match.body);
    return requestKey(seen.api, wanted) === seen.digest ? null : differences(wanted, seen.body).join("; ");
  }
  if (match.turn !== seen.turn) return `it answers turn ${match.turn}`;
  if (match.tools !== null && match.tools !== seen.offersTools) {
    return `it answers a request ${match.tools ? "with" : "without"} tools`;
  }
  const failures = match.expect.map((assertion) => failureOf(assertion, seen)).filter((failure) => failure !== null);
  return failures.length === 0 ? null : failures.join("; ");
}

function describeMiss(
  all: readonly CassetteExchange[],
  open: readonly CassetteExchange[],
  seen: Seen,
  normalise: Normalise,
): string {
  const request = `no exchange of the cassette fits the request ${seen.digest} (turn ${seen.turn})`;
  if (all.length === 0) return `${request}: it has no conversation for this task, condition, repetition and API`;
  const nearest =
    open.find(({ match }) => "turn" in match && match.turn === seen.turn) ??
    open.find(({ match }) => "body" in match) ??
    open[0];
  if (nearest === undefined) return `${request}: all ${all.length} exchanges were served before`;
  return `${request}; nearest is exchange ${all.indexOf(nearest) + 1} of ${all.length}: ${misfit(nearest, seen, normalise) ?? ""}`.slice(
    0,
    4000,
  );
}
