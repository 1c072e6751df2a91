import type { ArtifactSpec, Healthcheck } from "../model.ts";
import { isTable } from "../toml.ts";
import { readArtifacts } from "./artifacts.ts";
import { toFloat } from "./lax.ts";
import { type AgentSettings, readAgent, readVerifier, type VerifierSettings } from "./phases.ts";
import type { TableReader } from "./table.ts";
import { readHealthcheck } from "./values.ts";

/** One `[[steps]]` entry as written. */
export interface StepSettings {
  readonly name: string;
  readonly agent: AgentSettings;
  readonly verifier: VerifierSettings;
  readonly healthcheck: Healthcheck | null;
  readonly artifacts: readonly ArtifactSpec[];
  readonly minReward: Readonly<Record<string, number>> | null;
}

/** Reads `[[steps]]`; an empty list means a single-step task. Names must be unique folder names. */
export function readSteps(root: TableReader): readonly StepSettings[] {
  const seen = new Set<string>();
  return root.tables("steps").flatMap((entry) => {
    if (typeof entry === "string") {
      root.fail("steps", `expected a table with a name, got ${JSON.stringify(entry)}`);
      return [];
    }
    const name = entry.string("name") ?? "";
    if (name === "" || name.includes("\0") || name.includes("\\") || name.split("/").some(isUnsafe)) {
      entry.fail("name", `a step's name is the name of its folder below steps/, got ${JSON.stringify(name)}`);
    } else if (seen.has(name)) {
      entry.fail("name", `the step ${JSON.stringify(name)} is there twice`);
    }
    seen.add(name);
    const step = {
      name,
      agent: readAgent(entry),
      verifier: readVerifier(entry),
      healthcheck: readHealthcheck(entry),
      artifacts: readArtifacts(entry),
      minReward: readMinReward(entry),
    };
    entry.finish();
    return [step];
  });
}

function isUnsafe(part: string): boolean {
  return part === "" || part === "." || part === "..";
}

/** A number gates the key `reward`; a table gates each of its keys. */
function readMinReward(table: TableReader): Readonly<Record<string, number>> | null {
  const value = table.raw("min_reward");
  if (value === undefined) return null;
  const entries = isTable(value) ? Object.entries(value) : [["reward", value] as const];
  return Object.fromEntries(
    entries.flatMap(([key, member]): [string, number][] => {
      const gate = toFloat(member);
      if (gate !== null && !Number.isNaN(gate)) return [[key, gate]];
      table.fail("min_reward", `${key}: expected a number`);
      return [];
    }),
  );
}
