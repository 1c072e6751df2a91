import type { IncomingMessage } from "node:http";

/** A request's whole body, or `too-large` (the rest is not read), or `gone` when the client left before its end. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | "too-large" | "gone"> {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return "too-large";
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      const bytes = chunk as Buffer;
      length += bytes.length;
      if (length > maxBytes) return "too-large";
      chunks.push(bytes);
    }
  } catch {
    return "gone";
  }
  return request.complete ? Buffer.concat(chunks) : "gone";
}
