import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { digestBytes } from "../../../runner/base/digest.ts";
import { imageArchive, imageConfig, mergeSettings } from "../../../runner/image/archive.ts";
import { contentOf, readTar } from "../../../runner/image/tar-entries.ts";

const settings = { env: { B: "2", A: "1" }, entrypoint: null, cmd: ["sh"], workdir: "/app", user: null };
const diffId = `sha256:${"ab".repeat(32)}` as const;

describe("imageConfig", () => {
  it("is the same bytes for the same image and holds no moment but a fixed one", () => {
    const config = imageConfig("x", settings, [diffId], { l: "v" });
    expect(JSON.parse(config.bytes.toString())).toEqual({
      architecture: "amd64",
      os: "linux",
      created: "2025-06-15T15:06:40.000Z",
      config: { Env: ["A=1", "B=2"], Cmd: ["sh"], WorkingDir: "/app", Labels: { l: "v" } },
      rootfs: { type: "layers", diff_ids: [diffId] },
      history: [{ created: "2025-06-15T15:06:40.000Z", created_by: "jacobian-runner images build: x" }],
    });
    expect(config.digest).toBe(digestBytes(config.bytes));
    expect(imageConfig("x", { ...settings, env: { A: "1", B: "2" } }, [diffId], { l: "v" }).digest).toBe(config.digest);
  });
});

describe("mergeSettings", () => {
  const none = { env: {}, entrypoint: null, cmd: null, workdir: null, user: null };
  it("adds to the parent's environment and keeps what is not set", () => {
    expect(mergeSettings(settings, { ...none, env: { B: "3" }, user: "u" })).toEqual({
      env: { A: "1", B: "3" },
      entrypoint: null,
      cmd: ["sh"],
      workdir: "/app",
      user: "u",
    });
  });

  it("drops the parent's command when there is a new entrypoint", () => {
    expect(mergeSettings(settings, { ...none, entrypoint: ["e"] })).toMatchObject({ entrypoint: ["e"], cmd: null });
  });
});

describe("imageArchive", () => {
  it("names the layers it does not carry, so that an engine which has them needs no copy", async () => {
    const config = imageConfig("x", settings, [diffId], {});
    const found: Record<string, string> = {};
    for await (const entry of readTar(Readable.from(imageArchive(config, [], ["r:t"])))) {
      found[entry.path] = (await contentOf(entry)).toString();
    }
    const name = `${config.digest.slice(7)}.json`;
    expect(Object.keys(found)).toEqual([name, "manifest.json"]);
    expect(found[name]).toBe(config.bytes.toString());
    expect(JSON.parse(found["manifest.json"] ?? "")).toEqual([
      { Config: name, RepoTags: ["r:t"], Layers: [`${diffId.slice(7)}.tar`] },
    ]);
  });
});
