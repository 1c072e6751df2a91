import { gatewayLimitsSchema } from "../../base/formats/gateway-config.ts";
import { type SurveyAnswer, surveyRequestSchema } from "../../base/formats/survey.ts";
import { parseStrictJson } from "../../base/strict-json.ts";
import { parseInput } from "../../base/zod-input.ts";
import { PreflightError } from "./mcp-client.ts";
import { preflight } from "./preflight.ts";

/** For each answer: a catalog may be tens of megabytes, and its server slow to write it for the first time. */
const SURVEY_MILLIS = 300_000;

/** Reads a server's whole surface, catalog included. `request` is a survey request as JSON; what the server did instead is an answer. */
export async function survey(request: string, signal: AbortSignal): Promise<SurveyAnswer> {
  const source = "the survey's request";
  const server = parseInput(surveyRequestSchema, parseStrictJson(Buffer.from(request), { source }), source);
  try {
    const limits = gatewayLimitsSchema.parse({ preflightMillis: SURVEY_MILLIS });
    return { ok: true, surface: (await preflight(server, limits, signal)).surface };
  } catch (thrown) {
    if (!(thrown instanceof PreflightError)) throw thrown;
    return { ok: false, code: thrown.code, detail: thrown.message };
  }
}
