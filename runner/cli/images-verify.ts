import { ensureEngine } from "../docker/ensure-engine.ts";
import { verifyImages } from "../image/verify-images.ts";
import type { Run } from "./command.ts";
import type { OPTIONS } from "./options.ts";

export const run: Run<typeof OPTIONS.imagesVerify> = async ({ json }, _positionals, io) => {
  await using engine = await ensureEngine({ fix: false, report: io.say, signal: io.signal, env: io.env });
  const states = await verifyImages({ docker: engine.docker, projectRoot: io.projectRoot });
  const ok = states.every(({ state }) => state === "current");
  if (json) io.out(`${JSON.stringify({ ok, images: states })}\n`);
  else for (const { name, state, detail } of states) io.out(`${name.padEnd(16)} ${state.padEnd(8)} ${detail}\n`);
  return ok ? 0 : 1;
};
