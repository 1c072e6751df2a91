// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Dockerfiles spell variables this way.
import { describe, expect, it } from "vitest";
import { parseDockerfile } from "../../../runner/image/dockerfile.ts";
import { baseUses, rewriteDockerfile } from "../../../runner/image/stages.ts";

const uses = (text: string, args: Record<string, string> = {}) => baseUses(parseDockerfile(text), "Dockerfile", args);
const brief = (text: string, args: Record<string, string> = {}) =>
  uses(text, args).map(({ kind, reference, external, runs }) => ({ kind, reference, external, runs }));

describe("baseUses", () => {
  it("finds every FROM and COPY --from, and tells images from stages", () => {
    const text = [
      "ARG BASE=python:3.12-slim",
      "FROM --platform=$BUILDPLATFORM ${BASE} AS Build",
      "RUN make",
      "FROM scratch",
      "COPY --from=build /x /x",
      "COPY --from=0 /y /y",
      "COPY --from=ghcr.io/astral-sh/uv:0.8 /uv /bin/",
      "FROM build",
      "RUN two",
    ].join("\n");
    expect(brief(text)).toEqual([
      { kind: "from", reference: "python:3.12-slim", external: true, runs: true },
      { kind: "from", reference: "scratch", external: false, runs: false },
      { kind: "copy", reference: "build", external: false, runs: false },
      { kind: "copy", reference: "0", external: false, runs: false },
      { kind: "copy", reference: "ghcr.io/astral-sh/uv:0.8", external: true, runs: false },
      { kind: "from", reference: "build", external: false, runs: true },
    ]);
  });

  it("lets a build argument replace a declared default and no undeclared name", () => {
    expect(brief("ARG B=a\nFROM $B\n", { B: "other" })[0]?.reference).toBe("other");
    expect(brief("FROM ${B:-a}\n", { B: "other" })[0]?.reference).toBe("a");
  });

  it.each([
    ["RUN x\n", "Dockerfile: there is no FROM instruction"],
    ["FROM $NOTHING\n", "Dockerfile, line 1: FROM $NOTHING names no image"],
    ["\nFROM --platform=linux/arm64 a\n", "Dockerfile, line 2: the platform linux/arm64 cannot run here"],
  ])("refuses %j", (text, message) => {
    expect(() => uses(text)).toThrow(message);
  });
});

describe("rewriteDockerfile", () => {
  it("replaces references, adds lines below FROM, and leaves the rest", () => {
    const text =
      "# syntax=docker/dockerfile:1\nFROM --platform=linux/amd64 a:1 \\\n  AS one\n# words\nRUN x \\\n y\nFROM one\nCOPY --from=tool:2 --chown=1 /a /b\n";
    const file = parseDockerfile(text);
    const rewrites = baseUses(file, "Dockerfile", {}).map((use) => ({
      use,
      reference: use.external ? `local/${use.reference}` : null,
      after: use.runs ? ["ARG CA=/ca.pem"] : [],
    }));
    expect(rewriteDockerfile(file, rewrites)).toBe(
      "FROM local/a:1 AS one\nARG CA=/ca.pem\n# words\nRUN x \\\n y\nFROM one\nCOPY --from=local/tool:2 --chown=1 /a /b\n",
    );
  });
});
