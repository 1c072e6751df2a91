import { z } from "zod";
import { type Digest, digestJson } from "../digest.ts";
import { countSchema, digestSchema, jsonSchema } from "./common.ts";

/**
 * A catalog resource of an MCP server. `digest` is over the canonical JSON of its members `catalog_version` and `operations` (those
 * that exist); `contentSha256` is over the text's exact bytes.
 */
export const catalogSchema = z.strictObject({
  uri: z.string(),
  digest: digestSchema,
  operationCount: countSchema,
  contentSha256: digestSchema,
  contentBytes: countSchema,
});
export type Catalog = z.infer<typeof catalogSchema>;

/** What an MCP server advertises. Integers beyond 2^53 - 1 and ill-formed strings are kept as `runner/base/formats/plain-json.ts` says. */
export const surfaceSchema = z.strictObject({
  schemaVersion: z.literal("1"),
  /** The `serverInfo` of the initialize result, whole. */
  server: z.looseObject({ name: z.string(), version: z.string() }),
  protocolVersion: z.string(),
  capabilities: jsonSchema,
  instructions: z.string().nullable(),
  /** Tool records, whole, in code-unit order of their names. */
  tools: z.array(z.looseObject({ name: z.string() })),
  catalog: catalogSchema.nullable(),
});
export type Surface = z.infer<typeof surfaceSchema>;

/** The digest of a surface: server, instructions, tools and catalog. The negotiated protocol version and capabilities are recorded beside it. */
export function surfaceDigest(surface: Surface): Digest {
  const { server, instructions, tools, catalog } = surface;
  return digestJson({ server, instructions, tools, catalog });
}
