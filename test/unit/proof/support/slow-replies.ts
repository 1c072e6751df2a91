// A second reading of replies, one character at a time and without regular expressions: slow, and plain enough to be seen to be right.

/** Code points that count as white space: the characters for which Python's `str.isspace` holds. */
const SPACES = new Set([
  ...[0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x85, 0xa0, 0x1680],
  ...[0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a],
  ...[0x2028, 0x2029, 0x202f, 0x205f, 0x3000],
]);

function isSpace(char: string | undefined): boolean {
  return char !== undefined && SPACES.has(char.charCodeAt(0));
}

export function slowTrim(text: string): string {
  let chars = text.split("");
  while (isSpace(chars[0])) chars = chars.slice(1);
  while (isSpace(chars[chars.length - 1])) chars = chars.slice(0, -1);
  return chars.join("");
}

/** Reads `word` at `at`, in any case; gives the place after it or -1. */
function word(text: string, at: number, expected: string): number {
  const seen = text.slice(at, at + expected.length);
  return seen.toLowerCase() === expected ? at + expected.length : -1;
}

function spaces(text: string, at: number): number {
  let next = at;
  while (isSpace(text[next])) next += 1;
  return next;
}

/** Reads `<name >` at `at`. */
function openTag(text: string, at: number, name: string): number {
  if (text[at] !== "<") return -1;
  const end = word(text, at + 1, name);
  if (end === -1) return -1;
  const close = spaces(text, end);
  return text[close] === ">" ? close + 1 : -1;
}

/** Reads `</ name >` at `at`. */
function closeTag(text: string, at: number, name: string, spaceAfterSlash: boolean): number {
  if (text[at] !== "<" || text[at + 1] !== "/") return -1;
  const end = word(text, spaceAfterSlash ? spaces(text, at + 2) : at + 2, name);
  if (end === -1) return -1;
  const close = spaces(text, end);
  return text[close] === ">" ? close + 1 : -1;
}

export function slowFinalAnswer(text: string): string {
  const marker = "<|end|><|start|>assistant<|channel|>final<|message|>";
  let rest = text;
  for (const end of [marker, "</think>"]) {
    const parts = rest.split(end);
    rest = parts[parts.length - 1] ?? "";
  }
  for (let at = 0; at < rest.length; at += 1) if (openTag(rest, at, "think") !== -1) return "";
  return slowTrim(rest);
}

function elements(text: string, name: string): string[] {
  const found: string[] = [];
  let at = 0;
  while (at < text.length) {
    const start = openTag(text, at, name);
    if (start === -1) {
      at += 1;
      continue;
    }
    let end = start;
    while (end < text.length && closeTag(text, end, name, true) === -1) end += 1;
    if (end === text.length) return found;
    found.push(text.slice(start, end));
    at = closeTag(text, end, name, true);
  }
  return found;
}

/** The verdict's step, or null when the judgment is invalid. */
export function slowVerdict(reply: string, steps: number): { assessment: string; errors: string; step: number } | null {
  const answer = slowFinalAnswer(reply);
  const [assessment, errors, step] = ["assessment", "errors", "first_error_step"].map((name) => elements(answer, name));
  if (assessment?.length !== 1 || errors?.length !== 1 || step?.length !== 1) return null;
  const words = slowTrim(assessment[0] ?? "");
  const number = slowTrim(step[0] ?? "");
  const unsigned = number.startsWith("-") ? number.slice(1) : number;
  if (words === "" || unsigned === "") return null;
  for (const char of unsigned.split("")) if (!"0123456789".includes(char)) return null;
  for (let index = -1; index < steps; index += 1) {
    if (BigInt(unsigned) * (number.startsWith("-") ? -1n : 1n) === BigInt(index)) {
      return { assessment: words, errors: slowTrim(errors[0] ?? ""), step: index };
    }
  }
  return null;
}

/** The grade's word, or null. */
export function slowLevel(reply: string): string | null {
  const answer = slowFinalAnswer(reply);
  const found: string[] = [];
  let at = 0;
  while (at < answer.length) {
    const start = openTag(answer, at, "level");
    if (start === -1) {
      at += 1;
      continue;
    }
    const from = spaces(answer, start);
    let to = from;
    while (/[\p{L}\p{N}_]/u.test(answer[to] ?? "")) to += 1;
    const close = to === from ? -1 : closeTag(answer, spaces(answer, to), "level", false);
    if (close === -1) {
      at += 1;
      continue;
    }
    found.push(answer.slice(from, to).toUpperCase());
    at = close;
  }
  const levels = ["EXACT_MATCH", "BASIC_MATCH", "POOR_MATCH", "WRONG_POLARITY"];
  return found.length === 1 && levels.includes(found[0] ?? "") ? (found[0] ?? null) : null;
}

/** The steps of a written proof. */
export function slowSteps(text: string): string[] {
  const chunks: string[] = [];
  let at = 0;
  while (at < text.length) {
    const after = word(text, at, "<step");
    const next = text[after] ?? "";
    const end = after === -1 || /[\p{L}\p{N}_]/u.test(next) ? -1 : text.indexOf(">", after);
    if (end !== -1) {
      chunks.push("");
      at = end + 1;
    } else {
      if (chunks.length > 0) chunks.push(`${chunks.pop() ?? ""}${text[at] ?? ""}`);
      at += 1;
    }
  }
  return chunks.map(withoutClosings).filter((step) => step !== "");
}

function withoutClosings(chunk: string): string {
  let rest = slowTrim(chunk);
  for (;;) {
    const starts = rest
      .split("")
      .map((_, index) => index)
      .filter((index) => isClosing(rest, index));
    const start = starts[0];
    if (start === undefined) return rest;
    rest = slowTrim(`x${rest.slice(0, start)}`).slice(1);
  }
}

/** True when a closing form starts at `at` and is the last thing of the text. */
function isClosing(text: string, at: number): boolean {
  if (closeTag(text, at, "step", false) === text.length) return true;
  let next = word(text, at, "\\end");
  if (next === -1) return false;
  next = spaces(text, next);
  if (text[next] === "{") next = spaces(text, next + 1);
  next = word(text, next, "step");
  if (next === -1) return false;
  next = spaces(text, next);
  if (text[next] === "}") next = spaces(text, next + 1);
  return text[next] === ">" && next + 1 === text.length;
}
