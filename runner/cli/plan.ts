import { resolve } from "node:path";
import { ensureEngine } from "../docker/ensure-engine.ts";
import { requireEmpty } from "../evidence/bundle.ts";
import { makePlan } from "../study/make-plan.ts";
import { CONDITIONS } from "../study/order.ts";
import { writePlanFolder } from "../study/plan-folder.ts";
import { loadRequestedStudy, planRequestOf } from "../study/run-request.ts";
import type { Run } from "./command.ts";
import type { OPTIONS } from "./options.ts";
import { runRequest } from "./plan-request.ts";
import { printPlan } from "./print-plan.ts";

export const run: Run<typeof OPTIONS.plan> = async (options, _positionals, io) => {
  const out = resolve(io.cwd, options.out);
  await requireEmpty(out);
  const request = runRequest(options, io);
  const study = await loadRequestedStudy(request, null);
  const { projectRoot, env, signal } = io;
  await using engine = await ensureEngine({ fix: false, report: io.say, signal, env });
  const { plan } = await makePlan(
    planRequestOf(request, study, { engine, projectRoot, env, build: false, report: io.say, signal }),
  );
  const digest = await writePlanFolder(out, plan, request);
  printPlan(plan, CONDITIONS, options.json, io);
  io.say(`plan_sha256 ${digest} in ${out}`);
  io.say(`Nothing was started. Run it with \`runner execute --plan ${out} --condition both --execute\`.`);
  return 0;
};
