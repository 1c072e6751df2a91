/** A command line that reads its standard input from a file; `/bin/sh` is all that it needs. */
export function withStdin(path: string, argv: readonly string[]): string[] {
  return ["/bin/sh", "-c", 'exec "$@" <"$0"', path, ...argv];
}
