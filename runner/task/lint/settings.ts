import { join } from "node:path";
import type { Healthcheck, Task } from "../model.ts";
import { refusals } from "../refusals.ts";
import type { Found, RuleId } from "./finding.ts";
import { isText, type TaskFile } from "./task-files.ts";

const WARNING_RULES = {
  UNKNOWN_KEY: "unknown-key",
  DEPRECATED_KEY: "deprecated-key",
  ARTIFACT_OVERLAP: "artifact-overlap",
  NON_JSON_NUMBER: "non-json-number",
} as const satisfies Record<string, RuleId>;

/** Checks what `task.toml` says: the loader's warnings, requirements that cannot be met, healthchecks, gates and the shape of own tasks. */
export function checkSettings(task: Task, files: readonly TaskFile[]): readonly Found[] {
  const file = join(task.dir, "task.toml");
  return [
    ...task.warnings.map((warning): Found => {
      const hint = "Correct or remove it.";
      return {
        level: "warning",
        rule: WARNING_RULES[warning.code],
        file: warning.file,
        line: warning.line,
        message: warning.message,
        hint,
      };
    }),
    ...refusals(task, "execute").map((refusal): Found => {
      const message = `${refusal.code} (${refusal.subject}): ${refusal.message}`;
      return {
        level: "warning",
        rule: "refused",
        file,
        line: null,
        message,
        hint: "A study refuses the task as it is.",
      };
    }),
    ...healthchecks(task).flatMap(([key, check]) => checkHealthcheck(file, key, check, files)),
    ...checkGates(task, file, files),
    ...(task.layout === "split" ? checkOwnShape(task, file) : []),
  ];
}

function healthchecks(task: Task): readonly (readonly [string, Healthcheck])[] {
  const all: (readonly [string, Healthcheck | null])[] = [
    ["environment.healthcheck", task.environment.healthcheck],
    ...task.steps.map((step) => [`steps.${step.name}.healthcheck`, step.healthcheck] as const),
  ];
  return all.flatMap(([key, check]) => (check === null ? [] : [[key, check] as const]));
}

function checkHealthcheck(file: string, key: string, check: Healthcheck, files: readonly TaskFile[]): readonly Found[] {
  const command = check.command.trim();
  if (/^(?:true|:|exit 0|\/bin\/true|echo\b.*)$/.test(command) || /\s--(?:help|version)\b/.test(command)) {
    const message = `${key} runs ${JSON.stringify(command)}, which succeeds whatever the state of the environment`;
    return [
      {
        level: "warning",
        rule: "healthcheck-proves-nothing",
        file,
        line: null,
        message,
        hint: "Test what the task needs, for example the port.",
      },
    ];
  }
  const tool = /(?:^|[\s;&|])(curl|wget|nc|ncat|pg_isready|redis-cli|mysqladmin)\s/.exec(command)?.[1];
  const recipe = files
    .find((entry) => entry.role === "environment" && entry.relative === "Dockerfile")
    ?.bytes.toString("utf8");
  const known =
    recipe === undefined ||
    recipe.includes(tool ?? "") ||
    (tool === "curl" && recipe.includes("jacobian-runner/workbench"));
  if (tool === undefined || known) return [];
  const message = `${key} needs ${tool}, and the Dockerfile does not install it: the check may never succeed`;
  return [
    {
      level: "warning",
      rule: "healthcheck-command",
      file,
      line: null,
      message,
      hint: `Install ${tool} in the Dockerfile.`,
    },
  ];
}

function checkGates(task: Task, file: string, files: readonly TaskFile[]): readonly Found[] {
  const code = files
    .filter((entry) => entry.role === "tests" && isText(entry.bytes))
    .map((entry) => entry.bytes.toString("utf8"));
  return task.steps.flatMap((step) =>
    Object.entries(step.minReward ?? {}).flatMap(([key, minimum]): readonly Found[] => {
      const base = { rule: "min-reward" as const, file, line: null };
      if (key === task.runner.rewardKey && minimum > 1) {
        const message = `the step ${step.name} asks for ${key} of at least ${minimum}, and a reward is at most 1`;
        return [{ ...base, level: "error", message, hint: "Lower the gate." }];
      }
      if (key === task.runner.rewardKey || code.some((text) => text.includes(key))) return [];
      const message = `the step ${step.name} gates the key ${JSON.stringify(key)}, which no verifier writes: the trial always ends there`;
      return [{ ...base, level: "error", message, hint: "Name a key of the reward." }];
    }),
  );
}

/** The project's own tasks run without network, are graded apart, and have a public submission contract. */
function checkOwnShape(task: Task, file: string): readonly Found[] {
  const wrong: string[] = [];
  for (const step of task.steps) {
    if (step.verifier.mode !== "separate") wrong.push("its verifier is not separate");
    if (step.agent.network.mode !== "no-network")
      wrong.push(`its agent phase is ${step.agent.network.mode}, not no-network`);
    if (step.verifier.network.mode !== "no-network")
      wrong.push(`its verifier phase is ${step.verifier.network.mode}, not no-network`);
  }
  if (task.submission === null) wrong.push("it has no environment/submission_schema.json");
  return wrong.map((message): Found => {
    const hint = "See docs/task-format.md, Tasks of this project.";
    return {
      level: "error",
      rule: "own-shape",
      file,
      line: null,
      message: `a task of the split layout: ${message}`,
      hint,
    };
  });
}
