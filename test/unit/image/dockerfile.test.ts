// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Dockerfiles spell variables this way.
import { describe, expect, it } from "vitest";
import { expand, globalArguments, needsBuildKit, parseDockerfile } from "../../../runner/image/dockerfile.ts";

describe("parseDockerfile", () => {
  it("joins continuation lines, skips comments and blank lines between them, and keeps line numbers", () => {
    const { instructions } = parseDockerfile("# a comment\n\nfrom a\nRUN one \\\n  # inside\n\n  && two\nCMD x\n");
    expect(instructions).toEqual([
      { keyword: "FROM", text: "a", start: 2, end: 3, heredoc: false },
      { keyword: "RUN", text: "one && two", start: 3, end: 7, heredoc: false },
      { keyword: "CMD", text: "x", start: 7, end: 8, heredoc: false },
    ]);
  });

  it("takes a here-document as part of its instruction, so that a FROM inside is text", () => {
    const { instructions } = parseDockerfile(
      "FROM a\nRUN <<EOF\nFROM nowhere\nEOF\nCOPY <<A <<'B' /x/\n1\nA\n2\nB\nUSER u",
    );
    expect(instructions.map(({ keyword, start, end }) => [keyword, start, end])).toEqual([
      ["FROM", 0, 1],
      ["RUN", 1, 4],
      ["COPY", 4, 9],
      ["USER", 9, 10],
    ]);
  });

  it("reads parser directives only at the top", () => {
    const file = parseDockerfile("# syntax=docker/dockerfile:1\n# escape=`\nFROM a\nRUN one `\n two\n# syntax=late\n");
    expect(file.syntax).toBe("docker/dockerfile:1");
    expect(file.instructions[1]).toEqual({ keyword: "RUN", text: "one two", start: 3, end: 5, heredoc: false });
    expect(parseDockerfile("FROM a\n# syntax=late\n").syntax).toBeNull();
  });

  it("reads Windows line ends and a byte order mark", () => {
    expect(parseDockerfile("\uFEFFFROM a\r\nRUN b \\\r\n c\r\n").instructions.map(({ text }) => text)).toEqual([
      "a",
      "b c",
    ]);
  });
});

describe("expand", () => {
  const values = new Map([
    ["A", "one"],
    ["E", ""],
  ]);
  it.each([
    ["x", "x"],
    ["$A", "one"],
    ["${A}:2", "one:2"],
    ["${B}", ""],
    ["${B:-d}", "d"],
    ["${E:-d}", "d"],
    ["${A:-d}", "one"],
    ["${A:+set}", "set"],
    ["${B:+set}", ""],
  ])("turns %s into %j", (text, expected) => {
    expect(expand(text, values)).toBe(expected);
  });
});

describe("globalArguments", () => {
  it("reads defaults before the first FROM, quoted ones and ones that build on another", () => {
    const file = parseDockerfile('ARG A=1\nARG B="two words" C\nARG D=${A}-x\nFROM a\nARG A=9\n');
    expect(Object.fromEntries(globalArguments(file))).toEqual({ A: "1", B: "two words", D: "1-x" });
  });
});

describe("needsBuildKit", () => {
  it.each([
    ["FROM a\nRUN x\nCOPY --from=b --chown=1:1 /x /y\n", false],
    ["FROM a\nRUN --mount=type=cache,target=/c x\n", true],
    ["FROM a\nCOPY --chmod=755 x /y\n", true],
    ["FROM a\nCOPY --link x /y\n", true],
    ["FROM a\nRUN <<EOF\nx\nEOF\n", true],
    ["FROM a\nRUN echo --mount\n", false],
  ])("of %j is %s", (text, expected) => {
    expect(needsBuildKit(parseDockerfile(text))).toBe(expected);
  });
});
