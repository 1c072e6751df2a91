import type { ModelApi } from "./common.ts";

/** The path of each model API below the provider's base URL; agents see them below `/v1`. */
export const MODEL_PATHS: Readonly<Record<ModelApi, string>> = {
  chat: "/chat/completions",
  responses: "/responses",
  messages: "/messages",
};

/** The API that an agent-side path such as `/v1/responses` belongs to. */
export function apiOfPath(pathname: string): ModelApi | undefined {
  switch (pathname) {
    case "/v1/chat/completions":
      return "chat";
    case "/v1/responses":
      return "responses";
    case "/v1/messages":
      return "messages";
    default:
      return undefined;
  }
}
