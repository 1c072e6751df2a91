import type { ContainerLimits, ContainerSpec } from "../docker/container-spec.ts";
import type { EnvironmentSpec } from "../task/model.ts";

/**
 * Capabilities that programs of a task may count on (package managers, `su`, `chown` in a script). Everything else is dropped: raw
 * sockets, devices, mounts, tracing, the clock, the network's configuration.
 */
export const TASK_CAPABILITIES: readonly string[] = [
  "CHOWN",
  "DAC_OVERRIDE",
  "FOWNER",
  "FSETID",
  "KILL",
  "SETGID",
  "SETUID",
];

/**
 * The main process of an agent's container: waits on its input, which nobody writes to, so that it needs nothing but a shell and ends
 * only when it is killed. Commands run beside it.
 */
export const KEEPER: Pick<ContainerSpec, "entrypoint" | "command" | "stdin" | "init"> = {
  entrypoint: ["/bin/sh"],
  command: ["-c", "while read -r _; do :; done"],
  stdin: true,
  init: true,
};

const DEFAULT_PIDS = 4096;

/** The limits of a task's environment; processes are always bounded. */
export function limitsOf(environment: EnvironmentSpec): ContainerLimits {
  return {
    pids: DEFAULT_PIDS,
    ...(environment.cpus === null ? {} : { cpus: environment.cpus }),
    ...(environment.memoryBytes === null ? {} : { memoryBytes: environment.memoryBytes }),
  };
}
