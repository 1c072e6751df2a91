import { z } from "zod";
import { preflightCodeSchema } from "./gateway-protocol.ts";
import { catalogSchema, surfaceSchema } from "./surface.ts";

/** What the gateway's program is asked to survey: an MCP server's whole surface, with nothing of it in any trial's trace. */
export const surveyRequestSchema = z.strictObject({
  url: z.url({ protocol: /^https?$/ }),
  /** The catalog resource to read; null reads none. */
  catalogUri: z.string().nullable(),
  /** A catalog whose digest is known: equal bytes need no second derivation. */
  knownCatalog: catalogSchema.nullable(),
});
export type SurveyRequest = z.infer<typeof surveyRequestSchema>;

/** The one line that a survey prints. */
export const surveyAnswerSchema = z.discriminatedUnion("ok", [
  z.strictObject({ ok: z.literal(true), surface: surfaceSchema }),
  z.strictObject({ ok: z.literal(false), code: preflightCodeSchema, detail: z.string() }),
]);
export type SurveyAnswer = z.infer<typeof surveyAnswerSchema>;
