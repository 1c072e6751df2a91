import { escapeHtml } from "../markup.ts";
import type { KeyEntry, Picture } from "../plots/draw.ts";
import type { Table } from "../tables.ts";

const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** A table that scrolls by itself where the page is narrow; the first cell of a row names the row. */
export function tableMarkup({ head, rows }: Table, caption: string): string {
  const cell = (value: string, index: number): string =>
    index === 0
      ? `<th scope="row">${escapeHtml(value)}</th>`
      : `<td${DIGEST.test(value) ? ' class="digest"' : ""}>${escapeHtml(value)}</td>`;
  const lines: string[] = [];
  for (const row of rows) lines.push(`<tr>${row.map(cell).join("")}</tr>`);
  const body = lines.join("\n");
  return `<div class="scroll" tabindex="0" role="region" aria-label="${escapeHtml(caption)}"><table><thead><tr>${head
    .map((name) => `<th scope="col">${escapeHtml(name)}</th>`)
    .join("")}</tr></thead><tbody>\n${body}\n</tbody></table></div>`;
}

/** A picture with its words, its key and its table. */
export function pictureMarkup(picture: Picture): string {
  const { title, caption, key, span, wide, narrow, table } = picture;
  const label = escapeHtml(`${title}. ${caption}`);
  const figure = (markup: string, name: string): string =>
    markup === "" ? "" : `<figure class="${name}" role="img" aria-label="${label}">${markup}</figure>`;
  const drawings = `${figure(wide, "wide")}${figure(narrow, "narrow")}`;
  const figures =
    table === null
      ? ""
      : `<details><summary>The figures</summary>${tableMarkup(table, `${title}: the figures`)}</details>`;
  return `<section class="card ${span}"><h3>${escapeHtml(title)}</h3><p class="soft">${escapeHtml(caption)}</p>${keyMarkup(key)}${drawings}${figures}</section>`;
}

/** What colours and marks mean. */
export function keyMarkup(key: readonly KeyEntry[]): string {
  if (key.length === 0) return "";
  const entries = key.map(({ label, colour, mark }) => `<li>${swatch(mark, colour)}${escapeHtml(label)}</li>`);
  return `<ul class="key">${entries.join("")}</ul>`;
}

function swatch(mark: KeyEntry["mark"], colour: string): string {
  const shapes: Readonly<Record<KeyEntry["mark"], string>> = {
    dot: `<circle cx="9" cy="6" r="4.5" fill="${colour}"/>`,
    ring: `<circle cx="9" cy="6" r="4.5" fill="none" stroke="${colour}" stroke-width="2.5"/>`,
    line: `<line x1="1" x2="17" y1="6" y2="6" stroke="${colour}" stroke-width="4" stroke-linecap="round" stroke-opacity="0.7"/>`,
    box: `<rect x="2" y="0" width="14" height="12" rx="2" fill="${colour}"/>`,
    cross: `<path d="M5 2l8 8m0-8l-8 8" stroke="${colour}" stroke-width="2.5" stroke-linecap="round"/>`,
  };
  return `<svg viewBox="0 0 18 12" aria-hidden="true">${shapes[mark]}</svg>`;
}

/** A list of sentences. */
export function listMarkup(lines: readonly string[]): string {
  return lines.length === 0 ? "" : `<ul>${lines.map((line) => `<li>${escapeHtml(line)}</li>`).join("")}</ul>`;
}
