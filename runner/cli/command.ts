/** How one option looks on the command line. Its key in the table is its long name in camel case (`imageMap` is `--image-map`). */
export interface OptionSpec {
  readonly kind: "flag" | "string" | "integer" | "list";
  /** Placeholder of the value in the help; flags have none. */
  readonly value?: string;
  readonly summary: string;
  readonly choices?: readonly string[];
  /** Smallest integer allowed; default 1. */
  readonly min?: number;
  readonly required?: boolean;
}

/** The value that an option's specification parses to. */
export type OptionValue<O extends OptionSpec> = O extends { kind: "flag" }
  ? boolean
  : O extends { kind: "list" }
    ? readonly string[]
    : O extends { kind: "integer" }
      ? O extends { required: true }
        ? number
        : number | undefined
      : O extends { required: true }
        ? string
        : string | undefined;

/** A table of options and the values it parses to. */
export type OptionTable = Readonly<Record<string, OptionSpec>>;
export type OptionValues<T extends OptionTable> = { readonly [K in keyof T]: OptionValue<T[K]> };

/** The world of a command: everything it reads and writes outside of files and Docker. */
export interface CommandIo {
  /** Data, for programs: stdout. */
  readonly out: (text: string) => void;
  /** Words, for people: stderr. */
  readonly say: (line: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The folder of the runner itself: its images, tasks and local state. */
  readonly projectRoot: string;
  /** Folder of the programs that the runner starts in worker threads; left out: everything is done in this thread. */
  readonly programs?: URL;
  /** Aborted by SIGINT, SIGTERM and SIGHUP. */
  readonly signal: AbortSignal;
  /** True when stderr is a terminal that a progress line may redraw. */
  readonly interactive: boolean;
}

/** Runs a command; the number is the exit code: 0 good, 1 ran and the answer is bad. What could not run is thrown. */
export type Run<T extends OptionTable> = (
  options: OptionValues<T>,
  positionals: readonly string[],
  io: CommandIo,
) => Promise<number>;

/** One command: what the help says, and how to load what it does. */
export interface CommandSpec<T extends OptionTable = OptionTable> {
  /** Words after `runner`, such as `["images", "build"]`. */
  readonly path: readonly string[];
  readonly summary: string;
  /** Names of positional arguments; one that ends in `?` may be left out, one that ends in `...` repeats. */
  readonly positionals?: readonly string[];
  readonly options: T;
  /** Loaded only when the command runs, so that `runner --help` stays quick. */
  readonly load: () => Promise<{ readonly run: Run<T> }>;
}

/** Keeps a command's option types while it stands in the table. */
export function command<const T extends OptionTable>(spec: CommandSpec<T>): CommandSpec {
  // The table forgets the option types; each command's own module has them from its specification.
  return spec as unknown as CommandSpec;
}
