import type { ServerResponse } from "node:http";
import type { ModelApi } from "../base/formats/common.ts";

/** Answers with JSON. `x-should-retry: false` keeps client libraries from asking again for what stays refused. */
export function answerJson(response: ServerResponse, status: number, value: unknown): void {
  if (response.headersSent || response.destroyed) return;
  const bytes = Buffer.from(JSON.stringify(value));
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": bytes.length,
    "x-should-retry": "false",
  });
  response.end(bytes);
}

/** An error in the shape of the API that was spoken to. */
export function apiError(api: ModelApi, status: number, code: string, message: string): unknown {
  if (api === "messages")
    return { type: "error", error: { type: messagesType(status), message: `${code}: ${message}` } };
  return {
    error: { message, type: status === 429 ? "rate_limit_exceeded" : "invalid_request_error", param: null, code },
  };
}

function messagesType(status: number): string {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 413:
      return "request_too_large";
    case 429:
      return "rate_limit_error";
    default:
      return status >= 500 ? "api_error" : "invalid_request_error";
  }
}
