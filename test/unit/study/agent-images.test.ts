import { expect, test } from "vitest";
import { findAgent } from "../../../runner/agent/registry.ts";
import { imagesForAgent } from "../../../runner/study/agent-images.ts";
import type { OwnImages } from "../../../runner/study/task-images.ts";

function own(...names: string[]): OwnImages {
  const images = Object.fromEntries(names.map((name) => [name, { name }]));
  return {
    lock: { images },
    ids: new Map(names.map((name) => [name, `sha256:${name}`])),
    hostCa: null,
  } as unknown as OwnImages;
}

const ALL = [
  "agent-claude-code",
  "agent-codex",
  "agent-opencode",
  "agent-qwen-coder",
  "agent-toolloop",
  "gateway",
  "verifier",
];

test("a study binds the runtime of its own agent and of no other", () => {
  const codex = imagesForAgent(own(...ALL), findAgent("codex"));
  expect([...codex.ids.keys()]).toEqual(["agent-codex", "gateway", "verifier"]);
  expect(Object.keys(codex.lock.images)).toEqual(["agent-codex", "gateway", "verifier"]);
  expect([...imagesForAgent(own(...ALL), "nop").ids.keys()]).toEqual(["gateway", "verifier"]);
});

test("an agent whose runtime has not been built is refused with what to do", () => {
  expect(() => imagesForAgent(own("gateway", "verifier"), findAgent("opencode"))).toThrow(
    expect.objectContaining({
      code: "IMAGES_NOT_BUILT",
      message: "the runtime of agent opencode is not on this machine",
      hint: "Run `runner images build --only agent-opencode`.",
    }),
  );
});
