import { finalAnswer } from "./final-answer.ts";
import type { Level, Verdict } from "./terms.ts";
import { SPACE, trim } from "./text.ts";

/** A reading of a reply: the value, or the reason why there is none. */
export type Reading<T> = { readonly value: T } | { readonly error: string };

/** What each level is worth (spec/metrics.md, "optional meta metrics"). */
export const LEVEL_SCORES: Readonly<Record<Level, number>> = {
  EXACT_MATCH: 1,
  BASIC_MATCH: 0.75,
  POOR_MATCH: 0.5,
  WRONG_POLARITY: 0,
};

const FIELDS = ["assessment", "errors", "first_error_step"] as const;
const TAGS = Object.fromEntries(
  FIELDS.map((field) => [
    field,
    { open: new RegExp(`<${field}${SPACE}*>`, "giu"), close: new RegExp(`</${SPACE}*${field}${SPACE}*>`, "giu") },
  ]),
) as Record<(typeof FIELDS)[number], { open: RegExp; close: RegExp }>;
const LEVEL = new RegExp(`<level${SPACE}*>${SPACE}*([\\p{L}\\p{N}_]+)${SPACE}*</level${SPACE}*>`, "giu");

/**
 * Reads a judgment: exactly one each of `<assessment>`, `<errors>` and `<first_error_step>` in the final answer, looked up one tag at a
 * time and in any case, so that a mathematical `<` elsewhere does no harm. The assessment is not empty and the step lies in -1 .. steps-1.
 */
export function parseVerdict(text: string, steps: number): Reading<Verdict> {
  const answer = finalAnswer(text);
  const fields: string[] = [];
  for (const field of FIELDS) {
    const contents = contentsOf(answer, TAGS[field]);
    const [content] = contents;
    if (content === undefined || contents.length > 1) {
      return { error: `expected exactly one <${field}>, found ${contents.length}` };
    }
    fields.push(trim(content));
  }
  const [assessment = "", errors = "", step = ""] = fields;
  if (assessment === "") return { error: "the assessment is empty" };
  if (!/^-?[0-9]+$/.test(step)) return { error: "first_error_step is not an integer" };
  // A minus sign before zero is the integer zero, and -0 would not survive JSON.
  const index = Number(step) + 0;
  if (index < -1 || index >= steps) return { error: `first_error_step is out of range -1 .. ${steps - 1}` };
  return { value: { assessment, errors, first_error_step: index } };
}

/** Reads a grade: exactly one `<level>` in the final answer, holding one of the four words (in any case). */
export function parseLevel(text: string): Reading<Level> {
  const words = Array.from(finalAnswer(text).matchAll(LEVEL), (match) => (match[1] ?? "").toUpperCase());
  const [word] = words;
  if (word === undefined || words.length > 1) return { error: `expected exactly one <level>, found ${words.length}` };
  return Object.hasOwn(LEVEL_SCORES, word)
    ? { value: word as Level }
    : { error: "the level is none of the four words" };
}

/** Contents of a tag's elements from left to right, each ending at the first closing tag: linear in the length of the text. */
function contentsOf(text: string, tag: { open: RegExp; close: RegExp }): string[] {
  const contents: string[] = [];
  tag.open.lastIndex = 0;
  for (;;) {
    if (tag.open.exec(text) === null) return contents;
    const start = tag.open.lastIndex;
    tag.close.lastIndex = start;
    const close = tag.close.exec(text);
    if (close === null) return contents;
    contents.push(text.slice(start, close.index));
    tag.open.lastIndex = tag.close.lastIndex;
  }
}
