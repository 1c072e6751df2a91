import { describe, expect, it } from "vitest";
import { mapImage, parseImageMaps } from "../../../runner/image/image-map.ts";

describe("parseImageMaps", () => {
  it("reads FROM=TO pairs in their order and drops repeats", () => {
    expect(parseImageMaps(["a=b", "python:3.12-slim=local/py:1", "a=b"])).toEqual([
      { from: "a", to: "b" },
      { from: "python:3.12-slim", to: "local/py:1" },
    ]);
  });

  it.each(["a", "=b", "a=", "a=b=c", "a=b*", "A B=c"])("refuses %j", (value) => {
    expect(() => parseImageMaps([value])).toThrow(
      `--image-map: expected FROM=TO with two image references, got "${value}"`,
    );
  });

  it("refuses one FROM with two TOs", () => {
    expect(() => parseImageMaps(["a=b", "a=c"])).toThrow('--image-map: "a" is mapped to both "b" and "c"');
  });
});

describe("mapImage", () => {
  const digest = `sha256:${"0".repeat(64)}`;
  const to = (reference: string, ...maps: string[]): string | undefined => mapImage(reference, parseImageMaps(maps));

  it.each([
    ["python:3.12-slim", "python:3.12-slim=x", "x"],
    ["docker.io/library/python:3.12-slim", "python:3.12-slim=x", "x"],
    ["python:3.12-slim", "docker.io/library/python:3.12-slim=x", "x"],
    [`python:3.12-slim@${digest}`, "python:3.12-slim=x", "x"],
    [`python@${digest}`, `python@${digest}=x`, "x"],
    [`python:3.12-slim@${digest}`, "python=x", "x"],
    ["python", "python:latest=x", "x"],
    ["ghcr.io/astral-sh/uv:0.8", "ghcr.io/astral-sh/uv=x", "x"],
    ["localhost:5000/team/app:1", "localhost:5000/team/app:1=x", "x"],
    ["anything/at:all", "*=x", "x"],
    ["ghcr.io/a/b:1", "ghcr.io/*=x", "x"],
    ["python:3.12", "docker.io/library/py*=x", "x"],
    ["python:3.12-slim", "python:3.12=x", undefined],
    ["python:3.12", `python@${digest}=x`, undefined],
    [`python@${digest}`, "python:latest=x", undefined],
    ["team/python:3", "python=x", undefined],
    ["python:3.12", "ghcr.io/python=x", undefined],
  ])("maps %s by %s to %s", (reference, map, expected) => {
    expect(to(reference, map)).toBe(expected);
  });

  it("takes the first map that fits", () => {
    expect(to("python:3.12", "python:3.12=first", "python=second", "*=third")).toBe("first");
    expect(to("python:3.11", "python:3.12=first", "python=second", "*=third")).toBe("second");
    expect(to("node:20", "python:3.12=first", "python=second", "*=third")).toBe("third");
  });
});
