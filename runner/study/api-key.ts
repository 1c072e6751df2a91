import { RunnerError } from "../base/errors.ts";
import type { StudyModel } from "./study-file.ts";

/** The key of a live provider, or null when the study names none. @throws RunnerError `API_KEY_MISSING`. */
export function requireApiKey(model: StudyModel, env: Readonly<Record<string, string | undefined>>): string | null {
  if (model.apiKeyEnv === undefined) return null;
  const key = env[model.apiKeyEnv];
  if (key !== undefined && key !== "") return key;
  const problem = `the environment has no ${model.apiKeyEnv}, which the study names`;
  throw new RunnerError("environment", "API_KEY_MISSING", problem, {
    hint: "Set it for this command; it goes to the gateway alone.",
  });
}
