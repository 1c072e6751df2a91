import { parseHTML } from "linkedom";
import { expect, test } from "vitest";
import { canonicalText } from "../../../runner/base/canonical-json.ts";
import type { ReportModel } from "../../../runner/report/model.ts";
import { REPORT_FORMATS, renderReport } from "../../../runner/report/render.ts";
import { HOSTILE, sampleModel } from "./sample-model.ts";

const SHA = `sha256:${"cd".repeat(32)}`;
const reviewed = (count: number): ReportModel =>
  sampleModel(count, {
    reviews: [
      { about: SHA, note: "Read it.\n<b>Twice</b>.", writtenAt: "2026-11-30T12:00:00.000Z", signature: "not signed" },
    ],
  });

function scripted(model: ReportModel): ReportModel {
  return {
    ...model,
    study: { ...model.study, modelSource: "scripted" },
    trials: model.trials.map((trial) => ({ ...trial, modelSource: "scripted" })),
  };
}

function single(model: ReportModel): ReportModel {
  return {
    ...model,
    subject: "run",
    sides: model.sides.slice(0, 1),
    trials: model.trials.filter(({ side }) => side === "control"),
    tasks: model.tasks.map((task) => ({ ...task, treatment: null, paired: null })),
    paired: null,
  };
}

/** A reader of RFC 4180, written apart from the writer. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [[]];
  for (const match of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
    if (match[0] === "") break;
    rows.at(-1)?.push(match[1] === undefined ? (match[2] ?? "") : match[1].replaceAll('""', '"'));
    if (match[3] === "\r\n") rows.push([]);
  }
  return rows.filter((row) => row.length > 0);
}

test.each(["md", "csv", "junit"] as const)("a pair with lost trials as %s", async (format) => {
  await expect(renderReport(reviewed(5), format)).toMatchFileSnapshot(`expected/pair.${format}`);
});

test("the JSON form is the model itself, canonical", () => {
  const model = reviewed(5);
  expect(renderReport(model, "json")).toBe(`${canonicalText(model)}\n`);
});

test.each(REPORT_FORMATS)("equal evidence gives equal bytes as %s, however often it is drawn", (format) => {
  const first = renderReport(reviewed(12), format);
  renderReport(single(sampleModel(4)), format);
  expect(renderReport(reviewed(12), format)).toBe(first);
});

test.each(["md", "csv", "junit", "html"] as const)("every line of a scripted run says so as %s", (format) => {
  const model = scripted(sampleModel(3));
  const text = renderReport(model, format);
  const { document } = parseHTML(text);
  if (format === "html") {
    expect(document.querySelector(".banner")?.textContent).toContain("SCRIPTED");
    const lines = [...document.querySelectorAll("table")].filter((table) => table.textContent.includes("reward"));
    for (const table of lines)
      for (const row of table.querySelectorAll("tbody tr")) expect(row.textContent).toContain("scripted");
  } else if (format === "md") {
    expect(text).toContain("**SCRIPTED");
    for (const line of text.split("\n").filter((one) => /^\| (?:\d+ \| )?family-/.test(one)))
      expect(line).toContain("| scripted |");
  } else if (format === "csv") {
    const [head = [], ...rows] = readCsv(text);
    expect(new Set(rows.map((row) => row[head.indexOf("model_source")]))).toEqual(new Set(["scripted"]));
  } else expect(text.match(/<testcase /g)?.length).toBe(text.match(/<system-out>SCRIPTED/g)?.length);
});

test("in CSV every cell has a value, unknown ones with their reason, and no cell is a formula", () => {
  const model = sampleModel(5);
  const [head = [], ...rows] = readCsv(renderReport(model, "csv"));
  expect(rows).toHaveLength(model.trials.length);
  for (const row of rows) {
    expect(row).toHaveLength(head.length);
    for (const cell of row) expect(cell).toMatch(/^[^=+\-@]/);
  }
  const lost = rows.filter((row) => row[head.indexOf("enters_means")] === "no");
  expect(
    lost.map((row) => [row[head.indexOf("outcome")], row[head.indexOf("reward")], row[head.indexOf("input_tokens")]]),
  ).toEqual([["provider_error", "unknown:missing", "unknown:missing"]]);
  expect(rows.some((row) => row[head.indexOf("task")] === `'${HOSTILE}`)).toBe(true);
});

test("JUnit counts a trial without a score as an error, never as passed or skipped", () => {
  const model = sampleModel(5);
  const { document } = parseHTML(renderReport(model, "junit").replace(/^<\?xml.*\n/, ""));
  const of = (read: (reward: number | null) => boolean): number =>
    model.trials.filter(({ reward }) => read(reward)).length;
  expect(document.querySelectorAll("testcase")).toHaveLength(model.trials.length);
  expect(document.querySelectorAll("testcase > error")).toHaveLength(of((reward) => reward === null));
  expect(document.querySelectorAll("testcase > failure")).toHaveLength(of((reward) => reward !== null && reward < 1));
  expect(document.querySelector("testsuites")?.getAttribute("errors")).toBe("1");
});

test("JUnit stays XML whatever a cause holds", () => {
  const [first, ...rest] = sampleModel(1).trials;
  if (first === undefined) throw new Error("no trial");
  const bad = { ...first, reward: null, outcome: "infra_error", causeDetail: 'a\u0000\u001b[31m"<&\n\ud800]]>' };
  const text = renderReport({ ...sampleModel(1), trials: [bad, ...rest] }, "junit");
  expect(text).toContain('message="no score, infra_error: a\ufffd\ufffd[31m&quot;&lt;&amp;&#10;\ufffd]]&gt;"');
});

test("the page holds no script, no link and no address, and forbids all three", () => {
  const page = renderReport(reviewed(12), "html");
  const { document } = parseHTML(page);
  expect(document.querySelectorAll("script, link, img, iframe, object, embed, form, a[href]")).toHaveLength(0);
  expect(document.querySelector("meta[http-equiv]")?.getAttribute("content")).toBe(
    "default-src 'none'; style-src 'unsafe-inline'",
  );
  const attributes = [...document.querySelectorAll("*")].flatMap((element) => [...element.attributes]);
  expect(attributes.filter(({ name }) => name.startsWith("on") || name === "href" || name === "src")).toEqual([]);
  expect(page).not.toMatch(/url\(|@import|javascript:/);
  expect(document.body.textContent).toContain(HOSTILE);
  expect(document.querySelector("blockquote")?.textContent).toBe("Read it.\n<b>Twice</b>.");
});

test("every drawing has a text that says what it shows, a title, and its figures in a table", () => {
  const { document } = parseHTML(renderReport(sampleModel(12), "html"));
  const figures = [...document.querySelectorAll("figure")];
  expect(figures.length).toBeGreaterThan(8);
  for (const figure of figures) {
    expect(figure.getAttribute("role")).toBe("img");
    expect(figure.getAttribute("aria-label")?.length).toBeGreaterThan(30);
    expect(figure.querySelectorAll("svg")).toHaveLength(1);
  }
  const titles = [...document.querySelectorAll(".pictures h3")].map(({ textContent }) => textContent);
  expect(titles).toEqual([
    "Paired difference with its interval",
    "Control and treatment, task by task",
    "How pairs came out",
    "Agent time, trial by trial",
    "Input tokens, trial by trial",
    "Output tokens, trial by trial",
    "Tool bytes seen by the model, trial by trial",
    "family-000 #1",
  ]);
  for (const table of document.querySelectorAll("table")) {
    expect(table.querySelectorAll("thead th[scope=col]").length).toBeGreaterThan(1);
    expect(table.querySelectorAll("tbody tr").length).toBe(table.querySelectorAll("tbody th[scope=row]").length);
  }
});

test("a dumbbell of very many tasks keeps the greatest losses as well as the greatest gains", () => {
  const model = sampleModel(200);
  const lines = model.tasks.map((task, index) => {
    if (task.paired === null) throw new Error("unpaired");
    return { ...task, paired: { ...task.paired, difference: index === 150 ? -1 : 0.01 * (index % 60) } };
  });
  const { document } = parseHTML(renderReport({ ...model, tasks: lines }, "html"));
  const section = [...document.querySelectorAll(".pictures > section")].find((one) =>
    one.textContent.includes("task by task"),
  );
  expect(section?.querySelector(".wide")?.textContent).toContain("family-150");
  expect(section?.textContent).toContain("120 tasks with the smallest differences are in the table only");
});

test("a single run has no verdict and no paired picture", () => {
  const { document } = parseHTML(renderReport(single(sampleModel(5)), "html"));
  expect(document.body.textContent).not.toContain("verdict");
  expect([...document.querySelectorAll(".pictures h3")].map(({ textContent }) => textContent)).toContain(
    "How trials ended, task by task",
  );
});

test("a mean never takes a missing score for 0, and the bounds stand beside it", () => {
  const text = renderReport(sampleModel(5), "md");
  const line = text.split("\n").find((one) => one.startsWith("| family-004 | control"));
  expect(line).toBe("| family-004 | control | live | 2 of 3 | 1 of 2 | 0.5 | 0.333 to 0.667 | 1 provider\\_error |");
});
