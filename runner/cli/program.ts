import { Command, CommanderError, Option } from "commander";
import { RunnerError } from "../base/errors.ts";
import type { CommandIo, CommandSpec, OptionSpec, OptionTable } from "./command.ts";
import { flagOf } from "./reference.ts";

/** What the program decided: an exit code, from a command or from commander's own help. */
export type Outcome = number;

/** Builds the command-line parser from the table of commands. Help and version print through `io`. */
export function createProgram(
  commands: readonly CommandSpec[],
  groups: Readonly<Record<string, string>>,
  version: string,
  io: CommandIo,
): { readonly parse: (argv: readonly string[]) => Promise<Outcome> } {
  let outcome: Outcome = 0;
  const program = new Command("runner")
    .description(
      "Does an agent solve more when it has Jacobian? Runs frozen tasks under control and treatment and keeps the evidence.",
    )
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help");
  const parents = new Map<string, Command>([["", program]]);
  for (const spec of commands) {
    const parent = parentOf(spec.path.slice(0, -1), parents, groups);
    const target = parent
      .command(spec.path.at(-1) ?? "")
      .description(spec.summary)
      .allowExcessArguments(false);
    for (const positional of spec.positionals ?? []) target.argument(positionalUsage(positional));
    for (const [key, option] of Object.entries(spec.options)) target.addOption(toOption(key, option));
    target.action(async (...received: unknown[]) => {
      const options = received.at(-2) as Record<string, unknown>;
      const positionals = received
        .slice(0, -2)
        .flat()
        .filter((value) => typeof value === "string");
      outcome = await (await spec.load()).run(withDefaults(spec.options, options), positionals, io);
    });
  }
  for (const target of everyCommand(program)) {
    target.exitOverride().configureOutput({ writeOut: io.out, writeErr: () => undefined });
  }
  return {
    parse: async (argv) => {
      try {
        await program.parseAsync([...argv], { from: "user" });
        return outcome;
      } catch (thrown) {
        if (!(thrown instanceof CommanderError)) throw thrown;
        if (thrown.exitCode === 0) return 0;
        if (thrown.code === "commander.help") {
          throw new RunnerError("usage", "COMMAND_MISSING", "expected a command", {
            hint: "Run `runner --help` for the list.",
          });
        }
        throw new RunnerError("usage", "USAGE", thrown.message.replace(/^error: /, ""), {
          hint: "Run the command with --help for its options.",
        });
      }
    },
  };
}

function parentOf(
  path: readonly string[],
  parents: Map<string, Command>,
  groups: Readonly<Record<string, string>>,
): Command {
  const key = path.join(" ");
  const known = parents.get(key);
  if (known !== undefined) return known;
  const made = parentOf(path.slice(0, -1), parents, groups)
    .command(path.at(-1) ?? "")
    .description(groups[key] ?? "");
  parents.set(key, made);
  return made;
}

function everyCommand(root: Command): Command[] {
  return [root, ...root.commands.flatMap((child) => everyCommand(child))];
}

function positionalUsage(name: string): string {
  if (name.endsWith("?")) return `[${name.slice(0, -1)}]`;
  return `<${name}>`;
}

function toOption(key: string, spec: OptionSpec): Option {
  const flag = flagOf(key);
  const placeholder =
    spec.kind === "flag" ? "" : spec.kind === "list" ? ` <${spec.value ?? "VALUE"}...>` : ` <${spec.value ?? "VALUE"}>`;
  const option = new Option(`${flag}${placeholder}`, spec.summary);
  if (spec.choices !== undefined) option.choices(spec.choices);
  if (spec.required === true) option.makeOptionMandatory();
  if (spec.kind === "integer") option.argParser((text) => integer(flag, text, spec.min ?? 1));
  return option;
}

function integer(flag: string, text: string, min: number): number {
  const value = Number(text);
  if (!/^[0-9]+$/.test(text) || !Number.isSafeInteger(value) || value < min) {
    throw new RunnerError(
      "usage",
      "USAGE",
      `expected ${flag} to be an integer of at least ${min}, got ${JSON.stringify(text)}`,
    );
  }
  return value;
}

function withDefaults(table: OptionTable, parsed: Readonly<Record<string, unknown>>): Record<string, never> {
  const values: Record<string, unknown> = {};
  for (const [key, spec] of Object.entries(table)) {
    values[key] = parsed[key] ?? (spec.kind === "flag" ? false : spec.kind === "list" ? [] : undefined);
  }
  // Commander keeps `--no-x` as `x: false`; in the table it is a flag of its own, beside `x` or alone.
  for (const key of Object.keys(table).filter((name) => /^no[A-Z]/.test(name))) {
    const positive = key.slice(2, 3).toLowerCase() + key.slice(3);
    values[key] = parsed[positive] === false;
    if (positive in table) values[positive] = parsed[positive] === true;
  }
  return values as Record<string, never>;
}
