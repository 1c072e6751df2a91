import { describe, expect, it } from "vitest";
import { addedPackages } from "../../../runner/image/build-one.ts";
import {
  comparePackages,
  describeDifference,
  mergePackages,
  npmOf,
  parseDpkgStatus,
  wheelOf,
} from "../../../runner/image/packages.ts";
import { aptPreferences } from "../../../runner/image/pins.ts";

describe("parseDpkgStatus", () => {
  it("lists what is installed and nothing that was removed", () => {
    const text = [
      "Package: bash\nEssential: yes\nStatus: install ok installed\nVersion: 5.2.37-2\nDescription: shell\n more\n Version: 9",
      "Package: gone\nStatus: deinstall ok config-files\nVersion: 1",
      "Package: zlib1g\nStatus: install ok installed\nVersion: 1:1.3.dfsg-1\n",
    ].join("\n\n");
    expect(parseDpkgStatus(text)).toEqual([
      { kind: "deb", name: "bash", version: "5.2.37-2" },
      { kind: "deb", name: "zlib1g", version: "1:1.3.dfsg-1" },
    ]);
  });
});

describe("wheelOf", () => {
  it.each([
    ["/opt/x/lib/python3.13/site-packages/python_flint-0.9.0.dist-info/METADATA", "python-flint", "0.9.0"],
    ["/a/site-packages/Z3_Solver-5.1.0.0.dist-info/METADATA", "z3-solver", "5.1.0.0"],
  ])("reads %s", (path, name, version) => {
    expect(wheelOf(path)).toEqual({ kind: "wheel", name, version });
  });

  it("is not fooled by other files of a wheel", () => {
    expect(wheelOf("/a/site-packages/x-1.dist-info/RECORD")).toBeUndefined();
    expect(wheelOf("/a/x-1.dist-info/METADATA")).toBeUndefined();
  });
});

describe("npmOf", () => {
  it("reads the note that a runtime keeps of each release", () => {
    const note = "/opt/agent/npm/@openai+codex@0.171.0-linux-x64.json";
    expect(npmOf(note)).toEqual({ kind: "npm", name: "@openai/codex", version: "0.171.0-linux-x64" });
    expect(npmOf("/opt/agent/npm/left-pad@1.3.0.json")).toEqual({ kind: "npm", name: "left-pad", version: "1.3.0" });
  });

  it("is not fooled by files elsewhere", () => {
    expect(npmOf("/opt/agent/lib/a@1.json")).toBeUndefined();
    expect(npmOf("/opt/agent/npm/a@1/package.json")).toBeUndefined();
  });
});

const deb = (name: string, version: string) => ({ kind: "deb", name, version }) as const;
const wheel = (name: string, version: string) => ({ kind: "wheel", name, version }) as const;

describe("comparePackages", () => {
  it("puts both versions side by side, also of what is only on one side", () => {
    const differences = comparePackages(
      [deb("a", "1"), deb("b", "1"), deb("c", "1")],
      [deb("a", "1"), deb("b", "2"), wheel("c", "1")],
    );
    expect(differences).toEqual([
      { kind: "deb", name: "b", pinned: "1", built: "2" },
      { kind: "deb", name: "c", pinned: "1", built: null },
      { kind: "wheel", name: "c", pinned: null, built: "1" },
    ]);
    expect(differences.map(describeDifference)).toEqual([
      "b: pinned 1, built with 2",
      "c: pinned 1, built with (nothing)",
      "c: pinned (not at all), built with 1",
    ]);
  });
});

describe("package lists of a chain of images", () => {
  it("merges, the upper image's version counting, and tells what the upper one added", () => {
    const below = [deb("a", "1"), deb("b", "1")];
    const merged = mergePackages(below, [wheel("x", "3"), deb("b", "2")]);
    expect(merged).toEqual([deb("a", "1"), deb("b", "2"), wheel("x", "3")]);
    expect(addedPackages(merged, below)).toEqual([deb("b", "2"), wheel("x", "3")]);
  });
});

describe("aptPreferences", () => {
  it("prefers pinned Debian versions and says nothing about wheels", () => {
    expect(aptPreferences([deb("a", "1:2-3"), wheel("w", "1"), deb("b", "4")])).toBe(
      "Package: a\nPin: version 1:2-3\nPin-Priority: 1001\n\nPackage: b\nPin: version 4\nPin-Priority: 1001\n",
    );
  });
});
