import type { Duplex, Writable } from "node:stream";
import type Dockerode from "dockerode";
import { type Abortable, apiError } from "./api-error.ts";
import { demultiplex, type OutputSinks } from "./demux.ts";

export interface AttachOptions extends Abortable, OutputSinks {
  /** True when the specification opened stdin and it is to be written. */
  readonly stdin?: boolean;
}

/** A connection to a container's main process. */
export interface Attachment {
  /** Ending it gives the process its end of input. */
  readonly stdin: Writable | null;
  /** Resolves when the output has ended and every byte has been handed on; rejects on a torn stream, a failing sink or an abort. */
  readonly ended: Promise<void>;
}

/** Connects to the output of a container's main process; before the start, so that no byte is missed. */
export async function attachTo(container: Dockerode.Container, options: AttachOptions): Promise<Attachment> {
  const { signal, stdin = false } = options;
  let socket: Duplex;
  try {
    socket = (await container.attach({
      stream: true,
      stdin,
      stdout: true,
      stderr: true,
      hijack: true,
      ...(signal === undefined ? {} : { abortSignal: signal }),
    })) as Duplex;
  } catch (thrown) {
    throw apiError("attach to a container", thrown, signal);
  }
  // A process that ends without reading its input makes the write fail, which is its own affair.
  socket.on("error", () => undefined);
  if (!stdin) socket.end();
  const ended = demultiplex(socket, options).catch((thrown) => {
    throw apiError("read a container's output", thrown, signal);
  });
  // Reported to whoever awaits it, and never as an unhandled rejection.
  ended.catch(() => undefined);
  return { stdin: stdin ? socket : null, ended };
}
