import { describe, expect, it } from "vitest";
import { parseDockerIgnore } from "../../../runner/image/docker-ignore.ts";

const PATHS = [
  "Dockerfile",
  "a.md",
  "README.md",
  "docs/a.md",
  "docs/deep/b.md",
  "node_modules/x/index.js",
  "src/app.py",
  "src/node_modules/y.js",
  "temp/keep.txt",
  "temp/x/drop.txt",
  "tempa",
];

describe("parseDockerIgnore", () => {
  it.each<[string, string, string[]]>([
    ["nothing for an empty file", "", []],
    ["nothing for comments and blank lines", "# *\n\n   \n", []],
    ["only the root for a plain name", "node_modules", ["node_modules/x/index.js"]],
    ["names at the root for a star", "*.md", ["a.md", "README.md"]],
    ["names at every depth for two stars", "**/*.md", ["a.md", "README.md", "docs/a.md", "docs/deep/b.md"]],
    ["folders at every depth", "**/node_modules", ["node_modules/x/index.js", "src/node_modules/y.js"]],
    ["one character for a question mark", "temp?", ["tempa"]],
    ["one level for a star between slashes", "*/*.md", ["docs/a.md"]],
    ["everything but what is taken back in", "*\n!src", PATHS.filter((path) => !path.startsWith("src/"))],
    ["what is left out again after being taken in", "*.md\n!README.md\nREADME.md", ["a.md", "README.md"]],
    ["a file below a folder that is left out stays in when taken back", "temp\n!temp/keep.txt", ["temp/x/drop.txt"]],
    ["leading and trailing slashes and dots", "/docs/\n./src/app.py", ["docs/a.md", "docs/deep/b.md", "src/app.py"]],
    ["classes of characters", "[aR]*.md", ["a.md", "README.md"]],
    ["characters that mean something elsewhere as themselves", "a+md\na.m(d", []],
    ["windows line ends", "*.md\r\ntempa\r\n", ["a.md", "README.md", "tempa"]],
    ["a tree by two stars at the end", "docs/**", ["docs/a.md", "docs/deep/b.md"]],
  ])("leaves out %s", (_title, text, expected) => {
    expect(PATHS.filter(parseDockerIgnore(text))).toEqual(expected);
  });
});
