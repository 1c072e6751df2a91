import { digestBytes, digestJson } from "../../base/digest.ts";
import { messageOf } from "../../base/errors.ts";
import { at, listAt, textAt } from "../../base/formats/json-access.ts";
import { plainJson } from "../../base/formats/plain-json.ts";
import type { Catalog } from "../../base/formats/surface.ts";
import { parseExactJson } from "../../base/strict-json.ts";
import { type McpClient, PreflightError } from "./mcp-client.ts";

const MAX_CATALOG_BYTES = 128 * 1024 * 1024;

/** Reads the catalog resource. Bytes that equal a catalog that is known already have its digest, and are not read again. */
export async function readCatalog(client: McpClient, uri: string, known: Catalog | null): Promise<Catalog> {
  const { result } = await client.call("resources/read", { uri });
  const text = textAt(result, "contents", 0, "text");
  if (text === undefined || listAt(result, "contents").length !== 1) {
    throw new PreflightError("catalog-unreadable", `${uri} is not one text`);
  }
  const contentSha256 = digestBytes(text);
  if (known !== null && known.uri === uri && known.contentSha256 === contentSha256) return known;
  try {
    const document = parseExactJson(text, { source: uri, maxBytes: MAX_CATALOG_BYTES });
    const operations = at(document, "operations");
    if (!Array.isArray(operations)) throw new PreflightError("catalog-unreadable", `${uri} has no list of operations`);
    const version = at(document, "catalog_version");
    const content = { ...(version === undefined ? {} : { catalog_version: version }), operations };
    return {
      uri,
      digest: digestJson(plainJson(content)),
      operationCount: operations.length,
      contentSha256,
      contentBytes: Buffer.byteLength(text),
    };
  } catch (thrown) {
    if (thrown instanceof PreflightError) throw thrown;
    throw new PreflightError("catalog-unreadable", `${uri}: ${messageOf(thrown)}`, thrown);
  }
}
