/**
 * Tells whether a `tar --exclude` pattern takes out a path (relative to what is archived): `*` and `?` also match slashes, the pattern
 * may match from any component on, and what lies below an excluded folder is excluded with it.
 */
export function matchesExclude(pattern: string, path: string): boolean {
  const source = pattern
    .replace(/\/+$/, "")
    .replaceAll(/[.+^${}()|\\]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".")
    .replaceAll("[!", "[^");
  try {
    return new RegExp(`(?:^|/)${source}(?:/|$)`, "su").test(path);
  } catch {
    // A bracket that never closes matches itself only.
    return path === pattern || path.startsWith(`${pattern}/`);
  }
}
