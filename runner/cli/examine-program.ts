import { existsSync } from "node:fs";
import type { CommandIo } from "./command.ts";

/** The program that examines a bundle's trials in worker threads; null where it was not built. */
export function examineProgram({ programs }: Pick<CommandIo, "programs">): URL | null {
  const url = programs === undefined ? null : new URL("examine-worker.mjs", programs);
  return url !== null && existsSync(url) ? url : null;
}
