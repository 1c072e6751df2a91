import type { ModelAnswer } from "../base/formats/model-response.ts";

/** Errors inside an answer that began well and are about what was asked, not about the service. */
const ABOUT_THE_REQUEST = /invalid|policy|filter|context|length|refus|safety|prompt/i;

/** True when an answer that began well carries an error of the service. */
export function isServiceError(error: ModelAnswer["error"]): boolean {
  return error !== null && !ABOUT_THE_REQUEST.test(error.type);
}
