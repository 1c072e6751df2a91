import type { ModelAnswer } from "../base/formats/model-response.ts";

/** Statuses that are the provider's or the operator's doing. Others (a request too long, an argument refused) are the agent's. */
export function isProviderStatus(status: number): boolean {
  return (
    status >= 500 || (status >= 300 && status < 400) || [401, 402, 403, 404, 407, 408, 409, 425, 429].includes(status)
  );
}

/** Errors inside an answer that began well and are about what was asked, not about the service. */
const ABOUT_THE_REQUEST = /invalid|policy|filter|context|length|refus|safety|prompt/i;

/** True when an answer that began well carries an error of the service. */
export function isServiceError(error: ModelAnswer["error"]): boolean {
  return error !== null && !ABOUT_THE_REQUEST.test(error.type);
}
