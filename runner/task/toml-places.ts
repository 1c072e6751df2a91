import type { Place } from "./toml.ts";

/**
 * Finds the place of every key and table header of a valid TOML document. Keys of the map are JSON texts of the path
 * (`["steps",0,"name"]`); keys inside inline tables are not listed, their table is.
 */
export function locateKeys(text: string): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  const arrays = new Map<string, number>();
  let table: (string | number)[] = [];
  let at = 0;
  let line = 1;
  let lineStart = 0;

  const newline = (): void => {
    line += 1;
    lineStart = at;
  };
  const skip = (): void => {
    const char = text[at];
    at += 1;
    if (char === "\n") newline();
  };
  const skipString = (): void => {
    const quote = text[at] ?? "";
    const triple = text.startsWith(quote.repeat(3), at);
    const end = triple ? quote.repeat(3) : quote;
    at += end.length;
    while (at < text.length && !text.startsWith(end, at)) {
      if (quote === '"' && text[at] === "\\") skip();
      skip();
    }
    at += end.length;
    // Up to two more quotes may belong to the string's content.
    while (triple && text[at] === quote) at += 1;
  };
  const skipComment = (): void => {
    while (at < text.length && text[at] !== "\n") at += 1;
  };
  const skipValue = (): void => {
    for (let depth = 0; at < text.length; ) {
      const char = text[at];
      if (char === '"' || char === "'") skipString();
      else if (char === "#") skipComment();
      else {
        if (char === "[" || char === "{") depth += 1;
        if (char === "]" || char === "}") depth -= 1;
        if (char === "\n" && depth <= 0) return;
        skip();
      }
    }
  };
  const readKey = (end: string): string[] => {
    const parts: string[] = [];
    while (at < text.length && text[at] !== end) {
      const char = text[at] ?? "";
      if (char === '"' || char === "'") {
        const start = at;
        skipString();
        parts.push(unquote(text.slice(start, at)));
      } else if (/[A-Za-z0-9_-]/.test(char)) {
        const start = at;
        while (/[A-Za-z0-9_-]/.test(text[at] ?? "")) at += 1;
        parts.push(text.slice(start, at));
      } else {
        at += 1;
      }
    }
    return parts;
  };
  const note = (path: readonly (string | number)[], place: Place): void => {
    const key = JSON.stringify(path);
    if (!places.has(key)) places.set(key, place);
  };
  /** Inserts the index of the last element after each array of tables on the way. */
  const resolve = (base: readonly (string | number)[], parts: readonly string[]): (string | number)[] => {
    const path = [...base];
    for (const part of parts) {
      path.push(part);
      const count = arrays.get(JSON.stringify(path));
      if (count !== undefined) path.push(count - 1);
    }
    return path;
  };

  while (at < text.length) {
    const char = text[at] ?? "";
    const place = { line, column: at - lineStart + 1 };
    if (char === "#") skipComment();
    else if (char === "[") {
      const isArray = text[at + 1] === "[";
      at += isArray ? 2 : 1;
      const parts = readKey("]");
      // Tables above it that have no header of their own.
      for (let length = 1; length < parts.length; length += 1) note(resolve([], parts.slice(0, length)), place);
      const parent = resolve([], parts.slice(0, -1));
      const path = [...parent, ...parts.slice(-1)];
      if (isArray) {
        const key = JSON.stringify(path);
        const index = arrays.get(key) ?? 0;
        arrays.set(key, index + 1);
        note(path, place);
        path.push(index);
      }
      table = path;
      note(path, place);
      while (at < text.length && text[at] !== "\n") at += 1;
    } else if (/[A-Za-z0-9_"'-]/.test(char)) {
      const parts = readKey("=");
      for (let length = 1; length <= parts.length; length += 1) note(resolve(table, parts.slice(0, length)), place);
      at += 1;
      skipValue();
    } else skip();
  }
  return places;
}

function unquote(token: string): string {
  if (token.startsWith("'")) return token.slice(1, -1);
  try {
    return String(JSON.parse(token));
  } catch {
    return token.slice(1, -1);
  }
}
