import type { ServerResponse } from "node:http";

/** A signal that aborts when the client goes away before its answer is finished. */
export function agentGone(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) controller.abort();
  });
  if (response.destroyed) controller.abort();
  return controller.signal;
}

/** Writes a chunk and waits until the client takes more, or is gone. */
export async function writeChunk(response: ServerResponse, chunk: Uint8Array): Promise<void> {
  if (response.destroyed || response.write(chunk)) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.once("drain", done);
    response.once("close", done);
  });
}
