import { expect, test } from "vitest";
import { MODEL_AGENTS } from "../../../runner/agent/registry.ts";
import { makeNormalise } from "../../../runner/gateway/replay/normalise.ts";

/** A piece of everything that some agent's requests hold and that differs from run to run. */
const TEXT = `<current_date>2026-11-30</current_date>
Wall time: 0.25 seconds, Chunk ID: a0b1c2, session ID 4711
cc_version=2.1.332.abc; OS Version: Linux 6.1
Today's date is 2026-11-30.
Today's date: Mon Nov 30 2026
{"runtime_ms": 12.5, "elapsed_seconds":3e-2}
d3f5a1b2-0000-4abc-8def-0123456789ab`;

const request = (id: string) => ({
  client_metadata: { session: id },
  prompt_cache_key: id,
  metadata: { user_id: id },
  input: [
    { id, type: "message", content: TEXT, internal_chat_message_metadata_passthrough: { id } },
    { id, type: "message", content: "the same" },
  ],
  messages: [{ role: "user", content: [{ type: "text", text: TEXT }] }],
});

test.each(MODEL_AGENTS.map((agent) => [agent.name, agent] as const))(
  "a recorded request of %s that is normalised again stays what it is",
  (_name, { volatile }) => {
    const normalise = makeNormalise(volatile);
    const once = normalise(request("id-1"));
    expect(normalise(once)).toEqual(once);
  },
);

test.each(MODEL_AGENTS.map((agent) => [agent.name, agent] as const))(
  "nothing of a request of %s is dropped by its place in a list",
  (_name, { volatile }) => {
    expect(volatile.drop.filter((pointer) => /\/[0-9]+(\/|$)/.test(pointer))).toEqual([]);
  },
);
