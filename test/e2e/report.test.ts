import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { renderReport } from "../../runner/report/render.ts";
import { makeReport } from "../../runner/study/report.ts";
import { makeBundlePair } from "../support/bundles.ts";
import { type Browser, ensureChromium, startChromium } from "../support/chromium.ts";

let dir: string;
let page: string;
let browser: Browser;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "report-page-"));
  const pair = await makeBundlePair(join(dir, "run"), {
    tasks: Array.from({ length: 8 }, (_, index) => `task-with-a-long-name-${index}`),
    repetitions: 2,
    script: ({ task, condition, repetition }) => {
      if (task.endsWith("3") && repetition === 1 && condition === "control") return { outcome: "provider_error" };
      return { reward: condition === "treatment" ? 1 : task.endsWith("7") ? 1 : task.endsWith("6") ? 0.5 : 0 };
    },
  });
  const anchors = { report: undefined, ...pair.anchors };
  const path = join(dir, "run");
  const model = await makeReport({ path, anchors, timelineTrials: [] }, new AbortController().signal);
  page = join(dir, "report.html");
  await writeFile(page, renderReport(model, "html"));
  browser = await startChromium(await ensureChromium());
});
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

/** What a reader's eye would meet, measured in the laid-out page. */
const MEASURE = `(() => {
  const shown = [...document.querySelectorAll("figure svg")].filter((svg) => svg.getBoundingClientRect().width > 0);
  const luminance = (colour) => {
    const [r, g, b] = colour.match(/[0-9.]+/g).slice(0, 3).map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const style = (selector) => getComputedStyle(document.querySelector(selector));
  const card = style(".card").backgroundColor;
  const outside = shown.flatMap((svg) => {
    const box = svg.closest(".card").getBoundingClientRect();
    return [...svg.querySelectorAll("text")].filter((text) => {
      const at = text.getBoundingClientRect();
      return at.width > 0 && (at.left < box.left || at.right > box.right);
    }).map((text) => text.textContent);
  });
  return {
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    drawings: shown.length,
    empty: shown.filter((svg) => svg.querySelectorAll("path, rect, circle, line, text").length < 3).length,
    outside,
    ground: style("body").backgroundColor,
    contrasts: { ink: contrast(style("body").color, style("body").backgroundColor), soft: contrast(style(".card .soft").color, card), plot: contrast(getComputedStyle(shown[0].querySelector("g[fill=currentColor] text, g[fill=currentColor]") ?? shown[0]).color, card) },
  };
})()`;

interface Measured {
  readonly overflow: number;
  readonly drawings: number;
  readonly empty: number;
  readonly outside: readonly string[];
  readonly ground: string;
  readonly contrasts: Readonly<Record<string, number>>;
}

test.each([
  { width: 1180, scheme: "light" },
  { width: 1180, scheme: "dark" },
  { width: 390, scheme: "light" },
  { width: 390, scheme: "dark" },
] as const)(
  "a page $width pixels wide in $scheme asks for nothing, and everything drawn is inside and readable",
  async (view) => {
    const { requests, complaints, value, screenshot } = await browser.look({
      file: page,
      expression: MEASURE,
      ...view,
    });
    const measured = value as Measured;
    expect(requests).toEqual([`file://${page}`]);
    expect(complaints).toEqual([]);
    expect(measured.overflow).toBe(0);
    expect(measured.drawings).toBe(3 + 4 + 6);
    expect(measured.empty).toBe(0);
    expect(measured.outside).toEqual([]);
    for (const contrast of Object.values(measured.contrasts)) expect(contrast).toBeGreaterThan(4.5);
    expect(measured.ground).toBe(view.scheme === "dark" ? "rgb(20, 23, 28)" : "rgb(247, 247, 244)");
    expect(screenshot.subarray(1, 4).toString()).toBe("PNG");
  },
);

test("the browser would have told of a request: a page with a picture from elsewhere is caught", async () => {
  const server = createServer((_, response) => response.end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x.png`;
    const file = join(dir, "other.html");
    await writeFile(file, `<!doctype html><title>x</title><img src="${url}" alt="">`);
    const { requests } = await browser.look({ file, width: 390, scheme: "light", expression: "1" });
    expect(requests).toEqual([`file://${file}`, url]);
  } finally {
    server.close();
  }
});
