import type { CommandSpec, OptionSpec } from "./command.ts";

/** The long name of an option's key. */
export function flagOf(key: string): string {
  return `--${key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The reference page of the command line, from the same table as the parser. */
export function referencePage(commands: readonly CommandSpec[]): string {
  const sections = commands.map((spec) => {
    const usage = ["runner", ...spec.path, ...(spec.positionals ?? []).map(placeholder)].join(" ");
    const rows = Object.entries(spec.options).map(
      ([key, option]) => `| \`${signature(key, option)}\` | ${describe(option)} |`,
    );
    const table = rows.length === 0 ? "" : `\n| option | meaning |\n|---|---|\n${rows.join("\n")}\n`;
    return `## \`${usage}\`\n\n${capitalise(spec.summary)}.\n${table}`;
  });
  return `# Command line\n\nWritten from the table of commands by \`runner reference\`; a test fails when it is stale.\n\nData goes to stdout, words to stderr. Exit codes: 0 good; 1 ran, and the answer is bad; 2 could not run; 128 + signal when interrupted.\n\n${sections.join("\n")}`;
}

/** A completion script for bash, from the same table as the parser. */
export function bashCompletion(commands: readonly CommandSpec[]): string {
  const words = new Map<string, Set<string>>();
  for (const { path, options } of commands) {
    path.forEach((word, index) => {
      const prefix = path.slice(0, index).join(" ");
      words.set(prefix, (words.get(prefix) ?? new Set()).add(word));
    });
    words.set(path.join(" "), new Set([...Object.keys(options).map(flagOf), "--help"]));
  }
  const cases = [...words].map(([prefix, next]) => `    "${prefix}") words="${[...next].join(" ")}" ;;`);
  return `_runner() {
  local prefix="" word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) break ;; *) prefix="\${prefix:+$prefix }$word" ;; esac
  done
  case "$prefix" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [ -n "$words" ] || COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _runner runner
`;
}

function placeholder(name: string): string {
  return name.endsWith("?") ? `[${name.slice(0, -1).toUpperCase()}]` : name.toUpperCase();
}

function signature(key: string, option: OptionSpec): string {
  if (option.kind === "flag") return flagOf(key);
  return `${flagOf(key)} ${option.value ?? "VALUE"}${option.kind === "list" ? "…" : ""}`;
}

function describe(option: OptionSpec): string {
  const notes = [
    ...(option.required === true ? ["required"] : []),
    ...(option.choices === undefined ? [] : [`one of ${option.choices.join(", ")}`]),
  ];
  return `${option.summary}${notes.length === 0 ? "" : ` (${notes.join("; ")})`}`.replaceAll("|", "\\|");
}

function capitalise(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
