import writeXlsxFile, { type SheetData } from "write-excel-file/node";
import type { Cell, TableRow } from "./export-csv.ts";

/** A sheet of a workbook. */
export interface TableSheet {
  readonly name: string;
  readonly rows: readonly object[];
}

/** A workbook with one sheet a table, header rows bold and frozen. */
export async function toXlsx(sheets: readonly TableSheet[]): Promise<Buffer> {
  return writeXlsxFile(
    sheets.map(({ name, rows }) => {
      const names = Object.keys(rows[0] ?? {});
      const header = names.map((value) => ({ value, fontWeight: "bold" as const }));
      const data = rows.map((row) => names.map((column) => sheetCell((row as TableRow)[column] ?? null)));
      const columns = names.map((column) => ({ width: Math.max(12, column.length + 2) }));
      return { sheet: name, data: [header, ...data] satisfies SheetData, columns, stickyRowsCount: 1 };
    }),
  ).toBuffer();
}

/** Characters that XML cannot carry (lone surrogates, most control characters) are shown as the replacement character. */
function sheetCell(
  cell: Cell,
): { value: string | number | boolean; type: StringConstructor | NumberConstructor | BooleanConstructor } | null {
  if (cell === null) return null;
  if (typeof cell === "number") return { value: cell, type: Number };
  if (typeof cell === "boolean") return { value: cell, type: Boolean };
  const text = cell.toWellFormed().replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");
  return { value: text.slice(0, 32_767), type: String };
}
