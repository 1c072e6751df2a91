import { digestJson } from "../base/digest.ts";
import type { EngineFacts } from "../docker/engine.ts";
import type { EnvironmentSpec, Task } from "../task/model.ts";

/** Lists what a task asks of the machine that this engine does not have; a limit that cannot be kept is refused, never lowered. */
export function hostRefusals(task: Task, facts: EngineFacts): string[] {
  const environments: [string, EnvironmentSpec][] = [
    ["environment", task.environment],
    ...task.steps.flatMap(({ name, verifier }): [string, EnvironmentSpec][] =>
      verifier.environment === null ? [] : [[`verifier of ${name}`, verifier.environment]],
    ),
  ];
  const found = environments.flatMap(([where, { cpus, memoryBytes }]) => [
    ...(cpus !== null && cpus > facts.cpus
      ? [`${where}: cpus: ${cpus} are asked for, the engine has ${facts.cpus}`]
      : []),
    ...(memoryBytes !== null && memoryBytes > facts.memoryBytes
      ? [`${where}: memory: ${memoryBytes} bytes are asked for, the engine has ${facts.memoryBytes}`]
      : []),
  ]);
  const [first, ...later] = task.steps;
  const networks = later
    .filter(({ agent }) => digestJson(agent.network) !== digestJson(first?.agent.network ?? null))
    .map(
      ({ name }) =>
        `steps: ${name}: its agent's network differs from the first step's, and one container has one network`,
    );
  return [...new Set([...found, ...networks])];
}
