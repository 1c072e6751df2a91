import { resolve } from "node:path";
import { inventory } from "../task/inventory.ts";
import { loadDataset } from "../task/load-dataset.ts";
import type { Run } from "./command.ts";
import type { OPTIONS } from "./options.ts";

export const run: Run<typeof OPTIONS.inventory> = async ({ dataset, json }, _positionals, io) => {
  const loaded = await loadDataset(resolve(io.cwd, dataset ?? `${io.projectRoot}/tasks`));
  const counts = inventory(loaded.tasks);
  if (json) io.out(`${JSON.stringify(counts)}\n`);
  else {
    for (const { coverageClass, ...groups } of counts.coverage) {
      io.out(`${coverageClass}\n`);
      for (const [group, members] of Object.entries(groups)) {
        const words = Object.entries(members).map(([name, count]) => `${name} ${count}`);
        io.out(`  ${group.replace(/^by/, "by ").toLowerCase()}: ${words.join(", ")}\n`);
      }
    }
  }
  return 0;
};
