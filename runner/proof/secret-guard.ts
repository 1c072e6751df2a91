import { createReadStream } from "node:fs";
import { RunnerError } from "../base/errors.ts";
import { SHORTEST_SECRET } from "./redact.ts";

/** Refuses files that contain a key. Replies are cleaned before they are kept; this look at what is kept makes it certain. */
export interface SecretGuard {
  /** @throws RunnerError `SECRET_LEAKED` when the content that `path` gets contains a key. */
  readonly text: (path: string, content: string) => void;
  /** The same for a file on disk. */
  readonly file: (path: string) => Promise<void>;
}

/** A guard against the given keys. */
export function secretGuard(secrets: readonly string[]): SecretGuard {
  const values = secrets.filter((secret) => secret.length >= SHORTEST_SECRET);
  const needles = values.map((secret) => Buffer.from(secret));
  const longest = Math.max(0, ...needles.map((needle) => needle.length));
  return {
    text: (path, content) => {
      if (values.some((value) => content.includes(value))) throw leaked(path);
    },
    file: async (path) => {
      if (needles.length === 0) return;
      let tail = Buffer.alloc(0);
      for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 }) as AsyncIterable<Buffer>) {
        const window = Buffer.concat([tail, chunk]);
        if (needles.some((needle) => window.includes(needle))) throw leaked(path);
        tail = Buffer.from(window.subarray(Math.max(0, window.length - longest + 1)));
      }
    },
  };
}

function leaked(path: string): RunnerError {
  return new RunnerError("integrity", "SECRET_LEAKED", `${path} contains the value of an API key`, {
    hint: "Data, prompts and config must not contain the key. The run is not sealed; delete the folder and replace the key.",
  });
}
