import { z } from "zod";
import { messageOf } from "../base/errors.ts";
import { readLines } from "../base/lines.ts";

const message = z.looseObject({
  stream: z.string().optional(),
  status: z.string().optional(),
  id: z.string().optional(),
  error: z.string().optional(),
  errorDetail: z.looseObject({ message: z.string().optional() }).optional(),
  aux: z.unknown().optional(),
});
export type EngineMessage = z.output<typeof message>;

/**
 * Reads the engine's progress messages, one JSON object a line, until the stream ends.
 * @returns The engine's error message, or null when it reported none.
 */
export async function followMessages(
  stream: NodeJS.ReadableStream,
  onMessage: (message: EngineMessage) => void,
): Promise<string | null> {
  let failed: string | null = null;
  for await (const line of readLines(stream as AsyncIterable<Uint8Array>)) {
    const text = line.bytes.toString("utf8").trim();
    if (text === "") continue;
    const parsed = parse(text);
    if (parsed === null) continue;
    const error = parsed.errorDetail?.message ?? parsed.error;
    if (error !== undefined) failed = error;
    onMessage(parsed);
  }
  return failed;
}

function parse(text: string): EngineMessage | null {
  try {
    return message.parse(JSON.parse(text));
  } catch (thrown) {
    return { error: `the engine sent a message that cannot be read (${messageOf(thrown)}): ${text.slice(0, 200)}` };
  }
}
