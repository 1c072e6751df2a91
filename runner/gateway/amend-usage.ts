import { at } from "../base/formats/json-access.ts";
import type { ExactJson } from "../base/json.ts";

/**
 * A Chat Completions stream tells its usage only when it is asked to. When the request does not say, `include_usage` is put in at the
 * beginning of the text, all other bytes staying as they are; null when nothing is to be changed, also where the request says no.
 */
export function withStreamUsage(body: ExactJson, bytes: Buffer): Buffer | null {
  if (at(body, "stream") !== true || at(body, "stream_options") !== undefined) return null;
  const open = bytes.indexOf("{") + 1;
  return Buffer.concat([
    bytes.subarray(0, open),
    Buffer.from('"stream_options":{"include_usage":true},'),
    bytes.subarray(open),
  ]);
}
