import type { ModelApi } from "../base/formats/common.ts";
import { at, countAt, textAt } from "../base/formats/json-access.ts";
import type { ExactJson } from "../base/json.ts";
import { hostedMembers, hostedTools, remoteContent } from "./hosted-tools.ts";

export interface Refusal {
  readonly reason:
    | "api"
    | "malformed"
    | "wrong-model"
    | "hosted-tool"
    | "hosted-feature"
    | "remote-content"
    | "several-answers";
  readonly status: number;
  readonly detail: string;
}

/** Why a model request may not go out; null when it may. */
export function refusalOf(
  api: ModelApi,
  body: ExactJson,
  study: { readonly id: string; readonly api: ModelApi | null },
): Refusal | null {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    return { reason: "malformed", status: 400, detail: "the body is not a JSON object" };
  }
  if (study.api !== null && study.api !== api) {
    return { reason: "api", status: 403, detail: `this study speaks ${study.api} only` };
  }
  const model = textAt(body, "model");
  if (model !== study.id) {
    return {
      reason: "wrong-model",
      status: 403,
      detail: `this study's model is ${study.id}, not ${model ?? "an unnamed one"}`,
    };
  }
  const tools = hostedTools(api, body);
  if (tools.length > 0) {
    return {
      reason: "hosted-tool",
      status: 403,
      detail: `tools that the provider carries out are not part of this study: ${tools.join(", ")}`,
    };
  }
  const members = hostedMembers(api, body);
  if (members.length > 0) {
    return {
      reason: "hosted-feature",
      status: 403,
      detail: `features that the provider carries out are not part of this study: ${members.join(", ")}`,
    };
  }
  const remote = remoteContent(body);
  if (remote.length > 0) {
    return {
      reason: "remote-content",
      status: 403,
      detail: `content that the provider would fetch is not part of this study: ${remote.join(", ")}`,
    };
  }
  for (const name of ["n", "best_of"]) {
    const value = at(body, name);
    if (value !== undefined && value !== null && value !== 1) {
      return { reason: "several-answers", status: 400, detail: `one answer a request: expected ${name} to be 1` };
    }
  }
  return null;
}

/** The most output tokens that a request asks for; null when it names no maximum. */
export function maxOutputTokens(api: ModelApi, body: ExactJson): number | null {
  switch (api) {
    case "chat":
      return countAt(body, "max_completion_tokens") ?? countAt(body, "max_tokens") ?? null;
    case "responses":
      return countAt(body, "max_output_tokens") ?? null;
    case "messages":
      return countAt(body, "max_tokens") ?? null;
  }
}
