import { SPACE, trim, trimEnd } from "./text.ts";

const OPEN = /<step(?![\p{L}\p{N}_])/giu;
const CLOSE = new RegExp(
  `^(?:</step${SPACE}*>|\\\\end${SPACE}*\\{?${SPACE}*step${SPACE}*\\}?${SPACE}*>|\\\\endstep${SPACE}*>)$`,
  "iu",
);

/**
 * Splits a written proof into its steps: each `<step ...>` starts one that runs to the next, or to the end. Closing forms at the end of a
 * step are cut, also the broken ones (`\end{step}>`, `\endstep>`); empty steps are dropped.
 */
export function extractSteps(text: string): string[] {
  const opens = openTags(text);
  return opens
    .map(({ end }, index) => cutClosings(text.slice(end, opens[index + 1]?.start)))
    .filter((step) => step !== "");
}

/** Opening tags from left to right; the end is looked up once, so that a text of many `<step` without `>` is read once. */
function openTags(text: string): { readonly start: number; readonly end: number }[] {
  const tags: { start: number; end: number }[] = [];
  OPEN.lastIndex = 0;
  for (let open = OPEN.exec(text); open !== null; open = OPEN.exec(text)) {
    const end = text.indexOf(">", OPEN.lastIndex) + 1;
    if (end === 0) break;
    tags.push({ start: open.index, end });
    OPEN.lastIndex = end;
  }
  return tags;
}

function cutClosings(chunk: string): string {
  let rest = trim(chunk);
  while (rest.endsWith(">")) {
    // A closing form has no `<` or backslash after its first character, so it can only start at the last one.
    const at = Math.max(rest.lastIndexOf("<"), rest.lastIndexOf("\\"));
    if (at === -1 || !CLOSE.test(rest.slice(at))) break;
    rest = trimEnd(rest.slice(0, at));
  }
  return rest;
}

/** Shows steps to a judge, each in a tag with its index. */
export function proofBlock(steps: readonly string[]): string {
  return steps.map((step, index) => `<step${index}>\n\n${step}\n\n</step${index}>`).join("\n\n");
}
