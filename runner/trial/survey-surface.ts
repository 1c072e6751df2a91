import { GATEWAY_PATHS } from "../base/formats/gateway-config.ts";
import type { Surface } from "../base/formats/surface.ts";
import { type SurveyRequest, surveyAnswerSchema } from "../base/formats/survey.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import { createCapture, tailText } from "../docker/capture.ts";
import { TrialFailure } from "./failure.ts";
import type { GatewaySet } from "./gateway-set.ts";
import type { McpPlan } from "./spec.ts";

/** More than the program allows the server for its slowest answer. */
const SURVEY_MICROS = 360_000_000;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/**
 * Reads everything that the server behind a gateway advertises, catalog included, by a second process beside the gateway: the trial's own trace
 * and evidence stay as they are.
 * @throws TrialFailure `MCP_…` with what the server did instead.
 */
export async function surveySurface(
  { gateway }: GatewaySet,
  { name, url, catalogUri, surface }: McpPlan,
  signal: AbortSignal,
): Promise<Surface> {
  const request: SurveyRequest = { url, catalogUri, knownCatalog: surface.catalog };
  const chunks: Buffer[] = [];
  let length = 0;
  const words = createCapture({ headBytes: 0, tailBytes: 4096 });
  const { exitCode } = await gateway.exec({
    argv: ["node", GATEWAY_PATHS.program, "survey", JSON.stringify(request)],
    timeoutMicros: SURVEY_MICROS,
    stdout: (chunk) => {
      length += chunk.length;
      if (length <= MAX_ANSWER_BYTES) chunks.push(Buffer.from(chunk));
    },
    stderr: words.write,
    signal,
  });
  signal.throwIfAborted();
  const refuse = (code: string, detail: string): never => {
    throw new TrialFailure("invalid_condition", code, `the MCP server ${name} failed its preflight: ${detail}`);
  };
  if (length > MAX_ANSWER_BYTES) return refuse("MCP_TOO_LARGE", `its surface has more than ${MAX_ANSWER_BYTES} bytes`);
  if (exitCode !== 0) {
    const said = tailText(words.captured()).trim();
    return refuse(
      "MCP_SURVEY_FAILED",
      `the survey ended with exit code ${exitCode ?? "unknown"}: ${said || "it printed nothing"}`,
    );
  }
  const source = "the survey's answer";
  const answer = parseInput(
    surveyAnswerSchema,
    parseStrictJson(Buffer.concat(chunks), { source, maxBytes: MAX_ANSWER_BYTES }),
    source,
  );
  if (!answer.ok) return refuse(`MCP_${answer.code.replaceAll("-", "_").toUpperCase()}`, answer.detail);
  return answer.surface as Surface;
}
