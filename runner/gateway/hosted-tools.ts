import type { ModelApi } from "../base/formats/common.ts";
import { at, listAt, textAt } from "../base/formats/json-access.ts";
import { offeredTools } from "../base/formats/model-request.ts";
import type { ExactJson } from "../base/json.ts";

/** Tool types that the agent itself carries out, by API. Every other type is the provider's: a way out of the container. */
const CLIENT_TOOLS: Readonly<Record<ModelApi, RegExp>> = {
  chat: /^(function|custom)$/,
  responses: /^(function|custom|namespace|local_shell|apply_patch)$/,
  messages: /^(custom|bash_[0-9]+|text_editor_[0-9]+|memory_[0-9]+)$/,
};

/** Members of a request that switch on something the provider does or keeps: search, connectors, containers, stored state. */
const HOSTED_MEMBERS: Readonly<Record<ModelApi, readonly string[]>> = {
  chat: ["web_search_options", "search_parameters", "plugins", "enable_search", "data_sources"],
  responses: ["previous_response_id", "conversation", "prompt", "background", "plugins", "search_parameters"],
  messages: ["mcp_servers", "container"],
};

/** The provider-hosted tools that a request asks for, each with its type as written. */
export function hostedTools(api: ModelApi, body: ExactJson): string[] {
  return offeredTools(api, body).flatMap((tool) => hostedTool(api, tool));
}

function hostedTool(api: ModelApi, tool: ExactJson): string[] {
  const type = textAt(tool, "type") ?? (api === "messages" ? "custom" : "a tool without a type");
  if (type === "namespace" && api === "responses")
    return listAt(tool, "tools").flatMap((inner) => hostedTool(api, inner));
  if (type === "shell" && api === "responses" && textAt(tool, "environment", "type") === "local") return [];
  return CLIENT_TOOLS[api].test(type) ? [] : [type];
}

/** The hosted features that a request switches on. A member that is null, false or empty switches nothing on. */
export function hostedMembers(api: ModelApi, body: ExactJson): string[] {
  return HOSTED_MEMBERS[api].filter((name) => {
    const value = at(body, name);
    return value !== undefined && value !== null && value !== false && !(Array.isArray(value) && value.length === 0);
  });
}

/**
 * Content that the provider would fetch by itself or take from its own storage: addresses and file ids. Pictures and documents inside the
 * request (`data:` and base64) are fine. Returns where each stands.
 */
export function remoteContent(body: ExactJson): string[] {
  const found: string[] = [];
  for (const key of ["messages", "input", "system"]) walk(at(body, key), `/${key}`, found);
  return found;
}

function walk(value: ExactJson | undefined, place: string, found: string[]): void {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) {
    const address = textAt(value, "image_url") ?? textAt(value, "image_url", "url") ?? textAt(value, "file_url");
    if (address !== undefined && !address.startsWith("data:")) found.push(place);
    if (textAt(value, "file_id") !== undefined || textAt(value, "file", "file_id") !== undefined) found.push(place);
    const source = textAt(value, "source", "type");
    if (source === "url" || source === "file") found.push(place);
    // Arguments and inputs of calls are the agent's data, whatever their members are called.
    if (["tool_use", "function_call", "custom_tool_call"].includes(textAt(value, "type") ?? "")) return;
  }
  for (const [key, member] of Object.entries(value)) walk(member as ExactJson, `${place}/${key}`, found);
}
