/** The default output folder of a run: `runs/<what>-<UTC time>`. */
export function defaultOut(what: string): string {
  return `runs/${what}-${new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;
}
