/** A cell of a table. */
export type Cell = string | number | boolean | null;
/** A flat row: column names and cells. */
export type TableRow = Readonly<Record<string, Cell>>;

/** Comma-separated values with a header line, CR LF line ends and quotes where needed (RFC 4180); null is an empty field. */
export function toCsv(rows: readonly object[]): string {
  const names = Object.keys(rows[0] ?? {});
  const lines = rows.map((row) => names.map((name) => field((row as TableRow)[name] ?? null)).join(","));
  return [names.join(","), ...lines].map((line) => `${line}\r\n`).join("");
}

function field(cell: Cell): string {
  if (cell === null) return "";
  const text = typeof cell === "string" ? inert(cell) : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Text from data files that a spreadsheet would take for a formula gets an apostrophe before it. */
function inert(text: string): string {
  return /^[=+\-@\t\r]/.test(text) && !/^-?[0-9. ]+$/.test(text) ? `'${text}` : text;
}
