const CANARY = /^\s*(?:<!--.*canary.*-->|#.*canary.*)\s*$/i;

/** The prompt: leading lines that are canary comments, and the blank lines after them, are removed, as Harbor does. */
export function stripCanary(text: string): string {
  const lines = text.split("\n");
  let first = 0;
  while (CANARY.test(lines[first] ?? "")) first += 1;
  if (first === 0) return text;
  while (first < lines.length && (lines[first] ?? "").trim() === "") first += 1;
  return lines.slice(first).join("\n");
}
