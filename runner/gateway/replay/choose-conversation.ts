import type { Cassette, CassetteScope } from "../../base/formats/cassette.ts";
import type { ModelApi } from "../../base/formats/common.ts";
import type { TrialScope } from "../../base/formats/gateway-config.ts";

export type Conversation = Cassette["conversations"][number];

/** The conversations that fit a trial, whatever its API. */
export function fittingConversations(cassette: Cassette, scope: TrialScope): Conversation[] {
  return cassette.conversations.filter((conversation) => fits(conversation.scope, scope));
}

/** The most specific of them for an API; the earlier one of equals. */
export function chooseConversation(fitting: readonly Conversation[], api: ModelApi): Conversation | undefined {
  return fitting
    .filter(({ scope }) => scope.api === "any" || scope.api === api)
    .toSorted((a, b) => specificity(b.scope) - specificity(a.scope))[0];
}

function fits(scope: CassetteScope, trial: TrialScope): boolean {
  return (
    scope.task === trial.task &&
    (scope.condition === "any" || scope.condition === trial.condition) &&
    (scope.repetition === "any" || scope.repetition === trial.repetition)
  );
}

function specificity(scope: CassetteScope): number {
  return (scope.repetition === "any" ? 0 : 4) + (scope.condition === "any" ? 0 : 2) + (scope.api === "any" ? 0 : 1);
}
