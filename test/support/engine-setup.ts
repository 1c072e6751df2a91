import { ensureEngine } from "../../runner/docker/ensure-engine.ts";

/** Makes sure that an engine answers before any test that needs one. */
export default async function setup(): Promise<void> {
  const engine = await ensureEngine({ fix: true, report: (line) => process.stderr.write(`${line}\n`) });
  await engine[Symbol.asyncDispose]();
}
