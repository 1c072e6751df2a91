import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { finalAnswer, replyError } from "../../../runner/proof/final-answer.ts";
import { extractSteps, proofBlock } from "../../../runner/proof/steps.ts";
import { parseLevel, parseVerdict } from "../../../runner/proof/verdict.ts";
import { slowFinalAnswer, slowLevel, slowSteps, slowVerdict } from "./support/slow-replies.ts";

const HARMONY = "<|end|><|start|>assistant<|channel|>final<|message|>";
const verdict = (step: number | string, assessment = "Looked at every step."): string =>
  `<assessment>${assessment}</assessment><errors></errors><first_error_step>${step}</first_error_step>`;

/** Pieces that replies are made of, well-formed or broken. */
const piece = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      "<assessment>",
      "</assessment>",
      "<errors>",
      "</errors>",
      "<first_error_step>",
      "</first_error_step>",
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom("<think>", "</think>", "<THINK>", "</THINK>", "<think >", "<think", HARMONY),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "<step>",
      "</step>",
      "<step idx='1'>",
      "<STEP>",
      "<step1>",
      "<stepé>",
      "\\end{step}>",
      "\\endstep>",
      "\\END { step } >",
      "</step >",
      "<step",
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "<level>",
      "</level>",
      "<LEVEL >",
      "EXACT_MATCH",
      "basic_match",
      "POOR_MATCH",
      "WRONG_POLARITY",
      "OTHER",
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "-1",
      "0",
      "1",
      "2",
      "3",
      "-0",
      "00",
      "1.0",
      "+1",
      "-2",
      "٣",
      "1e0",
      "99999999999999999999",
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "$x_1<x_2$",
      "0 < F(x) < 1",
      "a \\le b & c",
      "<reason>",
      "ok",
      "\r\n",
      " ",
      "\t",
      "\u0085",
      "\u2028",
      "\ufeff",
      "\ud835",
      "\udc00",
      "é☕",
      "<ASSESSMENT>",
      "</ Errors >",
      "<First_Error_Step >",
    ),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 6 }) },
);
const soup = fc.array(piece, { maxLength: 24 }).map((pieces) => pieces.join(""));

const field = (name: string, content: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom(name, name.toUpperCase()), content, fc.constantFrom("", " ", "\n"))
    .map(([tag, text, gap]) => `<${tag}${gap}>${text}</${gap}${tag}>`);
/** Replies that are mostly valid, with at most a few things wrong. */
const nearlyValid = fc
  .tuple(
    fc.constantFrom(
      "",
      "<think>a <think>b</think> c</think>",
      "<think>draft</think>",
      `analysis${HARMONY}`,
      "<think>",
      "</think>",
    ),
    field("assessment", fc.constantFrom("fine", "0<F(x)<1", " ", "", "x\r\ny", "\ud835")),
    field("errors", fc.constantFrom("", "Step 1: $a<b$ & more")),
    field("first_error_step", fc.constantFrom("-1", " 0 ", "1\n", "3", "-2", "", "1.0")),
    fc.constantFrom("", " trailing words", "<errors></errors>", "<think>", "</think>", HARMONY),
  )
  .map((parts) => parts.join(""));
const grade = fc
  .tuple(
    fc.constantFrom("", "<think><level>POOR_MATCH</level></think>"),
    fc.constantFrom("EXACT_MATCH", " basic_match\n", "OTHER", "a b"),
    soup,
  )
  .map(([before, word, after]) => `${before}<LEVEL >${word}</level>${after.slice(0, 5)}`);
const written = fc
  .array(
    fc.tuple(
      fc.constantFrom("<step>", "<step a='b'>", "<STEP\n>"),
      fc.constantFrom("x<y", "one", " ", "\\endstep>"),
      fc.constantFrom("</step>", "</step >\n", "\\end{step}>", ""),
    ),
    { maxLength: 5 },
  )
  .map((steps) => steps.flat().join(""));
const reply = fc.oneof(
  { weight: 1, arbitrary: written },
  { weight: 2, arbitrary: soup },
  { weight: 4, arbitrary: nearlyValid },
  { weight: 1, arbitrary: grade },
);

const shown = (text: string, steps: number) => {
  const reading = parseVerdict(text, steps);
  return "value" in reading
    ? { assessment: reading.value.assessment, errors: reading.value.errors, step: reading.value.first_error_step }
    : null;
};

describe("reading replies", () => {
  it("agrees with the slow reading on final answers, verdicts, levels and steps over thousands of generated replies", () => {
    let valid = 0;
    let levels = 0;
    let steps = 0;
    fc.assert(
      fc.property(reply, fc.integer({ min: 1, max: 4 }), (text, count) => {
        expect(finalAnswer(text)).toBe(slowFinalAnswer(text));
        const found = shown(text, count);
        expect(found).toEqual(slowVerdict(text, count));
        const level = parseLevel(text);
        expect("value" in level ? level.value : null).toBe(slowLevel(text));
        expect(extractSteps(text)).toEqual(slowSteps(text));
        valid += found === null ? 0 : 1;
        levels += "value" in level ? 1 : 0;
        steps += extractSteps(text).length;
      }),
      { numRuns: 8000, seed: 5 },
    );
    // The generator would prove nothing if it made only replies that nobody can read.
    expect(valid).toBeGreaterThan(300);
    expect(levels).toBeGreaterThan(10);
    expect(steps).toBeGreaterThan(1000);
  });

  it("keeps what stands after the last Harmony marker and then after the last </think>", () => {
    expect(finalAnswer(`x${HARMONY}<think>y</think> done `)).toBe("done");
    expect(finalAnswer("<think>a<think>b</think>c</think>d")).toBe("d");
    expect(finalAnswer("</think>only an end")).toBe("only an end");
  });

  it("finds no final answer behind an open <think>, in any case", () => {
    for (const text of ["unfinished <think>reasoning", "<THINK>x</THINK>y", "<think >x", "<think>a</think><think>b"]) {
      expect(finalAnswer(text)).toBe("");
    }
  });

  it("lets a draft verdict inside <think> count for nothing", () => {
    expect(shown(`<think>${verdict(0)}</think>${verdict(-1)}`, 1)).toMatchObject({ step: -1 });
    expect(shown(`<think>${verdict(-1)}`, 1)).toBeNull();
  });

  it("refuses duplicate, missing, empty, fractional and out-of-range fields", () => {
    const bad = [
      "",
      verdict(0) + verdict(0),
      verdict(1),
      verdict(-2),
      verdict("1.0"),
      verdict(-1, " "),
      verdict("٠"),
      verdict(""),
      "<first_error_step>-1</first_error_step>",
    ];
    for (const text of bad) expect(shown(text, 1)).toBeNull();
  });

  it("reads minus zero as the integer zero", () => {
    expect(shown(verdict("-0"), 1)?.step).toBe(0);
    expect(Object.is(shown(verdict("-0"), 1)?.step, 0)).toBe(true);
  });

  it("is not misled by a mathematical <", () => {
    expect(shown(verdict(-1, "0<F(x)<1, x_1<x_2, a \\le b & c"), 1)).toEqual({
      assessment: "0<F(x)<1, x_1<x_2, a \\le b & c",
      errors: "",
      step: -1,
    });
  });

  it("tells INCORRECT words and conflicting levels apart", () => {
    expect(parseLevel("<level>INEXACT_MATCH</level>")).toEqual({ error: "the level is none of the four words" });
    expect(parseLevel("<level>EXACT_MATCH</level><level>POOR_MATCH</level>")).toEqual({
      error: "expected exactly one <level>, found 2",
    });
    expect(parseLevel("<think><level>POOR_MATCH</level></think>\n<Level> exact_match </LEVEL>")).toEqual({
      value: "EXACT_MATCH",
    });
    expect(parseLevel("EXACT_MATCH")).toEqual({ error: "expected exactly one <level>, found 0" });
  });

  it("reads an assessment of a million characters, and hostile repetitions, in linear time", () => {
    const long = "x<y ".repeat(250_000);
    expect(shown(verdict(0, long), 1)?.assessment).toBe(long.trimEnd());
    const hostile = [
      "<assessment>",
      "<assessment",
      "</step>",
      "<step",
      "<think ",
      "<level>EXACT_MATCH ",
      "<first_error_step>\n",
    ];
    for (const part of hostile) {
      const text = part.repeat(60_000);
      parseVerdict(text, 1);
      parseLevel(text);
      extractSteps(text);
    }
  });

  it("calls a reply unusable for its transport first, then its finish, then its emptiness", () => {
    const usable = { text: "x", finish_reason: "stop", error: null };
    expect(replyError(usable)).toBeNull();
    expect(replyError({ ...usable, error: "HTTP_500", finish_reason: null })).toBe("HTTP_500");
    expect(replyError({ ...usable, finish_reason: "length" })).toBe("non_stop_finish");
    expect(replyError({ ...usable, finish_reason: null })).toBe("non_stop_finish");
    expect(replyError({ ...usable, text: "<think>x</think> " })).toBe("empty_final_answer");
  });
});

describe("steps of a proof", () => {
  it("cuts closing forms at the end of a step, also several and broken ones", () => {
    expect(extractSteps("<step>one</step>\n<step idx='1'>two\\end{step}>")).toEqual(["one", "two"]);
    expect(extractSteps("<step>a\\endstep></step>\n</step><step>\n</step><step>b</step> rest")).toEqual([
      "a",
      "b</step> rest",
    ]);
    expect(extractSteps("No tagged proof")).toEqual([]);
  });

  it("shows steps to judges with their index", () => {
    expect(proofBlock(["a", "b"])).toBe("<step0>\n\na\n\n</step0>\n\n<step1>\n\nb\n\n</step1>");
  });
});
