import { cp, mkdtemp, readFile, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inflateRawSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canonicalText } from "../../../runner/base/canonical-json.ts";
import { type Digest, digestBytes } from "../../../runner/base/digest.ts";
import { toCsv } from "../../../runner/proof/export-csv.ts";
import { proofRows } from "../../../runner/proof/proof-rows.ts";
import { verifyProofBundle } from "../../../runner/proof/verify-bundle.ts";
import { type CaseResult, type ProofCase, proofCase } from "./support/proof-case.ts";

const KEYLESS = { data: undefined, config: undefined, resamples: 200, demo: true } as const;
const FORMS = ["json", "jsonl", "csv", "xlsx", "markdown", "html"];
let prover: ProofCase;
let verifier: ProofCase;
let proverResult: CaseResult;
let verifierResult: CaseResult;
beforeAll(async () => {
  prover = await proofCase("prover", [], {});
  verifier = await proofCase("verifier", [], {});
  proverResult = await prover.run({ ...KEYLESS, export: FORMS });
  verifierResult = await verifier.run({ ...KEYLESS, meta: true, export: FORMS });
});
afterAll(async () => {
  await prover[Symbol.asyncDispose]();
  await verifier[Symbol.asyncDispose]();
});

describe("the demos", () => {
  it("run without a key or a model and say that the replies are scripted", async () => {
    for (const [result, task] of [
      [proverResult, "prover"],
      [verifierResult, "verifier"],
    ] as const) {
      expect(result.error).toBeNull();
      expect(JSON.parse(result.out)).toMatchObject({ task, modelSource: "scripted", summary: { complete: true } });
      expect(result.said).toContain(
        "The replies are scripted: no model is called, and no score is any model's achievement.",
      );
    }
  });

  it("show every kind of invalid reply, both classes and both domains", async () => {
    const { calls, summary } = JSON.parse(verifierResult.out);
    expect(Object.keys(calls.verifier.invalid)).toEqual([
      "HTTP_500",
      "empty_final_answer",
      "format",
      "non_stop_finish",
    ]);
    expect(calls.verifier.cost_micro_usd).toBe(0);
    for (const split of ["all", "ugd", "qe"]) expect(summary.splits[split].metrics.rough_bal_f1).toBeGreaterThan(0.5);
    expect(JSON.parse(proverResult.out).summary.splits.all.metrics).toMatchObject({ problems: 12, proofs: 24 });
  });

  it("stand on sample data of 12 problems and 24 proofs over domains, classes and kinds of labels", async () => {
    const rows = (name: string) =>
      readFile(join("benchmarks/proof/sample", name), "utf8").then((text) =>
        text
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line)),
      );
    const kinds = (await rows("proofs.jsonl")).map(
      ({
        domain,
        annotation: {
          first_fatal_error_step: fatal,
          recoverable_error_steps: [first],
        },
      }) => `${domain} ${fatal === -1 ? (first === -1 ? "correct" : "recoverable") : first === -1 ? "fatal" : "mixed"}`,
    );
    const counts = Object.fromEntries(
      [...new Set(kinds)].sort().map((kind) => [kind, kinds.filter((one) => one === kind).length]),
    );
    expect(await rows("problems.jsonl")).toHaveLength(12);
    expect(counts).toEqual({
      "qe correct": 6,
      "qe fatal": 2,
      "qe mixed": 2,
      "qe recoverable": 2,
      "ugd correct": 6,
      "ugd fatal": 2,
      "ugd mixed": 2,
      "ugd recoverable": 2,
    });
  });

  it("replay cassettes that are what their script writes", async () => {
    const script: { proverCassette: () => string; verifierCassette: () => string } = await import(
      join(process.cwd(), "benchmarks/proof/build-demo.mjs")
    );
    expect(await readFile("benchmarks/proof/demo/prover.jsonl", "utf8")).toBe(script.proverCassette());
    expect(await readFile("benchmarks/proof/demo/verifier.jsonl", "utf8")).toBe(script.verifierCassette());
  });
});

describe("verifying a bundle", () => {
  let copy: string;
  const anchorOf = ({ out }: CaseResult): Digest => JSON.parse(out).reportSha256;
  /** Checks a copy of a bundle after a change; `reseal` makes a forged report whose anchor is given as if it were the right one. */
  async function check(
    one: ProofCase,
    result: CaseResult,
    change: (folder: string) => Promise<unknown>,
    reseal = false,
  ) {
    copy = await mkdtemp(join(tmpdir(), "proof-bundle-"));
    try {
      await cp(one.path("out"), copy, { recursive: true });
      await change(copy);
      let anchor = anchorOf(result);
      if (reseal) {
        const report = JSON.parse(await readFile(join(copy, "report.json"), "utf8"));
        for (const file of report.files) {
          const bytes = await readFile(join(copy, file.path));
          Object.assign(file, { digest: digestBytes(bytes), size: bytes.length });
        }
        const text = canonicalText(report);
        await writeFile(join(copy, "report.json"), text);
        anchor = digestBytes(text);
      }
      return await verifyProofBundle(copy, anchor).then(
        ({ problems }) => problems,
        (thrown: { code: string }) => thrown.code,
      );
    } finally {
      await rm(copy, { recursive: true });
    }
  }
  const edit = (name: string, from: string | RegExp, to: string) => async (folder: string) => {
    const text = await readFile(join(folder, name), "utf8");
    const edited = text.replace(from, to);
    expect(edited).not.toBe(text);
    await writeFile(join(folder, name), edited);
  };

  it("derives everything again and finds nothing wrong with what a run wrote", async () => {
    expect(await verifyProofBundle(prover.path("out"), anchorOf(proverResult))).toEqual({
      problems: [],
      records: 24,
      replies: 114,
    });
    expect(await verifyProofBundle(verifier.path("out"), anchorOf(verifierResult))).toEqual({
      problems: [],
      records: 24,
      replies: 180,
    });
  });

  it("refuses a report that is not the anchored one, before reading it", async () => {
    expect(await check(prover, proverResult, edit("report.json", '"prover"', '"verifier"'))).toBe("REPORT_CHANGED");
    expect(await check(prover, proverResult, (folder) => writeFile(join(folder, "report.json"), "{"))).toBe(
      "REPORT_CHANGED",
    );
  });

  it("finds every file that was changed, added, removed or replaced by a link", async () => {
    const name = "records/000003_000.json";
    expect(await check(verifier, verifierResult, edit(name, '"valid": true', '"valid":  true'))).toEqual([
      expect.stringMatching(/^records\/000003_000\.json: has [0-9]+ bytes, the report says [0-9]+$/),
    ]);
    expect(await check(verifier, verifierResult, edit("summary.json", "0.", "1."))).toEqual([
      expect.stringMatching(/^summary\.json: has digest sha256:/),
    ]);
    expect(await check(verifier, verifierResult, (folder) => unlink(join(folder, name)))).toEqual([
      `${name}: is missing`,
    ]);
    expect(
      await check(verifier, verifierResult, (folder) => writeFile(join(folder, "records/extra.json"), "")),
    ).toEqual(["records/extra.json: is in the bundle and not in the report"]);
    const linked = async (folder: string) => {
      await unlink(join(folder, name));
      await symlink(verifier.path(join("out", name)), join(folder, name));
    };
    expect(await check(verifier, verifierResult, linked)).toEqual([`${name}: is no regular file`]);
  });

  it("is not satisfied by digests that fit: judgments, scores, totals and exports must follow from the raw replies", async () => {
    const differs = (name: string) => [`${name}: differs from what the evidence gives`];
    expect(
      await check(
        verifier,
        verifierResult,
        edit("records/000001_000.json", '"is_correct": false', '"is_correct": true'),
        true,
      ),
    ).toEqual(["records/000001_000.json: differs from what its raw replies give"]);
    expect(
      await check(verifier, verifierResult, edit("records/000000_000.json", '"valid": true', '"valid": false'), true),
    ).toEqual(["records/000000_000.json: differs from what its raw replies give"]);
    expect(
      await check(verifier, verifierResult, edit("summary.json", /"rough_tpr": 0\.[0-9]+/, '"rough_tpr": 0.999'), true),
    ).toEqual(differs("summary.json"));
    expect(await check(verifier, verifierResult, edit("results.jsonl", '"attempts":1', '"attempts":2'), true)).toEqual(
      differs("results.jsonl"),
    );
    expect(
      await check(verifier, verifierResult, edit("exports/report.html", "VerifierBench", "VerifiedBench"), true),
    ).toEqual(differs("exports/report.html"));
    expect(await check(verifier, verifierResult, edit("exports/scores.csv", "metric", "Metric"), true)).toEqual(
      differs("exports/scores.csv"),
    );
    expect(
      await check(
        verifier,
        verifierResult,
        edit("report.json", /"rough_accuracy":[0-9.]+/, '"rough_accuracy":1'),
        true,
      ),
    ).toEqual(differs("report.json: metrics"));
    expect(
      await check(
        verifier,
        verifierResult,
        edit(
          "report.json",
          "All replies are scripted by hand: no model was called, and no score here is any model's achievement.",
          "Fine.",
        ),
        true,
      ),
    ).toEqual(differs("report.json: cautions"));
    expect(
      await check(
        verifier,
        verifierResult,
        edit("manifest.json", '"model_source": "scripted"', '"model_source": "live"'),
        true,
      ),
    ).toContain("manifest.json: run_id: differs from what the evidence gives");
  });

  it("finds raw replies that were changed, are missing, or belong to nothing", async () => {
    const record = await verifier.record("000002_000");
    const hex = record.verifier_trials[0]?.response.raw?.digest.slice(7) ?? "";
    const path = (folder: string): string => join(folder, "objects/sha256", hex.slice(0, 2), hex.slice(2));
    expect(
      await check(verifier, verifierResult, async (folder) =>
        writeFile(path(folder), (await readFile(path(folder), "utf8")).replace("stop", "stoq")),
      ),
    ).toEqual([expect.stringContaining("holds bytes with digest")]);
    expect(await check(verifier, verifierResult, (folder) => unlink(path(folder)))).toEqual([
      `object sha256:${hex} is missing`,
    ]);
    const stray = digestBytes("stray").slice(7);
    const add = async (folder: string) => {
      const { mkdir } = await import("node:fs/promises");
      await mkdir(join(folder, "objects/sha256", stray.slice(0, 2)), { recursive: true });
      await writeFile(join(folder, "objects/sha256", stray.slice(0, 2), stray.slice(2)), "stray");
    };
    expect(await check(verifier, verifierResult, add)).toEqual([`object sha256:${stray}: nothing refers to it`]);
  });
});

describe("the exports", () => {
  const read = (one: ProofCase, name: string) => readFile(one.path(join("out/exports", name)), "utf8");

  it("hold the same scores in every tabular form", async () => {
    const { scores } = JSON.parse(await read(verifier, "scores.json"));
    const lines = (await read(verifier, "scores.jsonl"))
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines).toEqual(scores);
    const csv = (await read(verifier, "scores.csv")).trimEnd().split("\r\n");
    expect(csv).toHaveLength(scores.length + 1);
    expect(csv[0]).toBe(Object.keys(scores[0]).join(","));
    expect(csv[1]?.split(",").slice(0, 7)).toEqual(
      Object.values(scores[0])
        .slice(0, 7)
        .map((value) => String(value ?? "")),
    );
    expect(new Set(scores.map(({ group }: { group: string }) => group))).toEqual(
      new Set(["metric", "voting", "cross-validated", "scaling"]),
    );
    const sheets = unzip(await readFile(verifier.path("out/exports/results.xlsx")));
    expect(sheets.get("xl/workbook.xml")).toMatch(/name="Read first".*name="Scores".*name="Proofs".*name="Calls"/s);
    const rows = sheets.get("xl/worksheets/sheet2.xml")?.match(/<row /g) ?? [];
    expect(rows).toHaveLength(scores.length + 1);
    expect(sheets.get("xl/worksheets/sheet2.xml")).toContain(`<v>${scores[0].value}</v>`);
  });

  it("write lists of judgments that no spreadsheet takes for a formula or marks as text", () => {
    const shared = { record_key: "000000_000", problem_id: "p", domain: "qe" as const, failed: false, firstError: -1 };
    const rows = proofRows([{ ...shared, correct: true, judgments: [-1, 0, null], meta: [1, 0.75, null] }]);
    expect(toCsv(rows)).toBe(
      [
        "record_key,problem_id,domain,generation_failed,human_correct,human_first_error_step,valid_judgments,acceptances,rejections,judgments,meta_scores",
        '000000_000,p,qe,false,true,-1,2,1,1,"[-1,0,null]","[1,0.75,null]"',
        "",
      ].join("\r\n"),
    );
  });

  it("quote what needs quotes and make no formula of a text", () => {
    const rows = [{ name: 'a "b", c', id: "=1+1", n: -0.5, none: null, text: "-x" }];
    expect(toCsv(rows)).toBe(`name,id,n,none,text\r\n"a ""b"", c",'=1+1,-0.5,,'-x\r\n`);
  });

  it("carry the cautions in words, in Markdown and HTML alike", async () => {
    for (const name of ["report.md", "report.html"]) {
      const page = (await read(prover, name)).replaceAll("&#39;", "'");
      for (const words of [
        "All replies are scripted by hand",
        "it is fallible, and no certificate of a proof",
        "No paper-level claim is made",
        "Labels and quality flags of the data are taken as supplied.",
        "Transport retries: 4. Each can have added a sample at the provider that nobody saw.",
        "Only 12 problems: bootstrap intervals are too short below about 50",
      ])
        expect(page, name).toContain(words);
    }
  });

  it("draw every plot into a page that loads and runs nothing", async () => {
    const titles = {
      prover: [
        "Scores with their intervals",
        "Accepted proofs by voting threshold",
        "How many judgments accept a proof",
        "Pessimistic score with fewer judgments",
        "pass@k",
        "Which replies could be used",
      ],
      verifier: [
        "Scores with their intervals",
        "TPR against TNR for every voting threshold",
        "Votes: rates by threshold, both domains",
        "How many judgments accept a proof",
        "BalF1 with fewer judgments, both domains",
        "Which replies could be used",
      ],
    };
    for (const [one, task] of [
      [prover, "prover"],
      [verifier, "verifier"],
    ] as const) {
      const page = await read(one, "report.html");
      expect([...page.matchAll(/<section><h3>([^<]+)<\/h3>/g)].map(([, title]) => title)).toEqual(titles[task]);
      expect(page.match(/<svg [^>]*class="plot/g)).toHaveLength(6);
      expect(page).not.toMatch(/<script|<link|<img|<iframe|url\(|src=|href=|@import|NaN|undefined/);
      expect(page).toContain("default-src 'none'");
      expect(page).toContain("prefers-color-scheme: dark");
    }
  });

  it("number the thresholds of TPR against TNR so that no number covers another", async () => {
    const page = await read(verifier, "report.html");
    const section = page.slice(page.indexOf("<h3>TPR against TNR"), page.indexOf("<h3>Votes"));
    const groups = [...section.matchAll(/<g[^>]*aria-label="text"[^>]*>(.*?)<\/g>/gs)].map(([, group]) => group ?? "");
    const labels = [...groups.join("").matchAll(/<text[^>]*translate\(([\d.]+),([\d.]+)\)[^>]*>([^<]+)</g)].map(
      ([, x, y, text = ""]) => ({ x: Number(x), y: Number(y), text }),
    );
    expect(labels.map(({ text }) => text).sort()).toEqual(["1", "2", "2", "2", "3", "4", "4", "4"]);
    for (const [index, one] of labels.entries()) {
      for (const other of labels.slice(index + 1)) {
        const apart = Math.abs(one.x - other.x) >= 8 || Math.abs(one.y - other.y) >= 13;
        expect(apart, JSON.stringify([one, other])).toBe(true);
      }
    }
  });

  it("are only the ones that were asked for", async () => {
    await using one = await proofCase("prover", [], {});
    await one.run({ ...KEYLESS, limit: 2, export: ["csv"] });
    expect([...(await one.files()).keys()].filter((name) => name.startsWith("exports/")).sort()).toEqual([
      "exports/proofs.csv",
      "exports/scores.csv",
    ]);
  });
});

/** Texts of a zip archive's entries, read from its central directory. */
function unzip(archive: Buffer): Map<string, string> {
  const entries = new Map<string, string>();
  let at = archive.readUInt32LE(archive.length - 22 + 16);
  while (archive.readUInt32LE(at) === 0x02014b50) {
    const [method, size, nameLength, extra, comment, offset] = [
      archive.readUInt16LE(at + 10),
      archive.readUInt32LE(at + 20),
      archive.readUInt16LE(at + 28),
      archive.readUInt16LE(at + 30),
      archive.readUInt16LE(at + 32),
      archive.readUInt32LE(at + 42),
    ];
    const name = archive.toString("utf8", at + 46, at + 46 + nameLength);
    const start = offset + 30 + archive.readUInt16LE(offset + 26) + archive.readUInt16LE(offset + 28);
    const data = archive.subarray(start, start + size);
    entries.set(name, (method === 0 ? data : inflateRawSync(data)).toString("utf8"));
    at += 46 + nameLength + extra + comment;
  }
  return entries;
}
