import { expect, test } from "vitest";
import { readReward } from "../../../runner/task/reward.ts";

const bytes = (text: string | null) => (text === null ? null : Buffer.from(text));
const read = (json: string | null, txt: string | null, key?: string) =>
  readReward({ json: bytes(json), txt: bytes(txt) }, key);
const valid = (rewards: Record<string, number>, source: string, primary = rewards.reward) => ({
  state: "valid",
  rewards,
  primary,
  source,
});
const fault = (cause: string, detail: string) => ({ state: "fault", cause, detail });

test.each([
  ['{"reward": 1}', null, valid({ reward: 1 }, "reward.json")],
  [
    '{"reward": 0, "correctness": 0.5, "seconds": -3e2}',
    null,
    valid({ reward: 0, correctness: 0.5, seconds: -300 }, "reward.json"),
  ],
  [null, "1\n", valid({ reward: 1 }, "reward.txt")],
  [null, " +.5e0 ", valid({ reward: 0.5 }, "reward.txt")],
  [null, "-0.0", valid({ reward: 0 }, "reward.txt")],
  ['{"reward": 1.0, "x": 2}', "1", valid({ reward: 1, x: 2 }, "both")],
])("reward.json %j and reward.txt %j are a valid reward", (json, txt, expected) => {
  expect(read(json, txt)).toEqual(expected);
});

test.each([
  [null, null, fault("missing", "the verifier wrote neither reward.json nor reward.txt")],
  ["", null, fault("empty", "reward.json is empty")],
  [null, "", fault("empty", "reward.txt is empty")],
  [null, "\n", fault("empty", 'reward.txt is blank: "\\n"')],
  [null, "nan", fault("not-finite", 'reward.txt holds "nan", which is not finite')],
  [null, "-inf", fault("not-finite", 'reward.txt holds "-inf", which is not finite')],
  [null, "1e999", fault("not-finite", 'reward.txt holds "1e999", which is not finite')],
  [null, "1.0.0", fault("malformed", 'reward.txt holds "1.0.0", which is not one decimal number')],
  [null, "1 0", fault("malformed", 'reward.txt holds "1 0", which is not one decimal number')],
  [null, "0x1", fault("malformed", 'reward.txt holds "0x1", which is not one decimal number')],
  [null, "true", fault("malformed", 'reward.txt holds "true", which is not one decimal number')],
  [null, "2", fault("out-of-range", '"reward" is 2, outside [0, 1]')],
  [
    '{"reward": NaN}',
    null,
    fault("malformed", 'reward.json: line 1, column 12: expected a value, got "N"; the file is "{\\"reward\\": NaN}"'),
  ],
  [
    '{"reward": 1e999}',
    null,
    fault(
      "not-finite",
      'reward.json: line 1, column 12: the number 1e999 is not finite; the file is "{\\"reward\\": 1e999}"',
    ),
  ],
  ['{"reward": "1"}', null, fault("not-a-number", 'reward.json: "reward" is "1", not a number')],
  ['{"reward": true}', null, fault("not-a-number", 'reward.json: "reward" is true, not a number')],
  ['{"reward": null}', null, fault("not-a-number", 'reward.json: "reward" is null, not a number')],
  ['{"reward": 1, "parts": {"a": 1}}', null, fault("not-a-number", 'reward.json: "parts" is {"a":1}, not a number')],
  ['{"reward": -0.5}', null, fault("out-of-range", '"reward" is -0.5, outside [0, 1]')],
  ['{"reward": 2}', null, fault("out-of-range", '"reward" is 2, outside [0, 1]')],
  [
    '{"reward": 0, "reward": 1}',
    null,
    fault(
      "malformed",
      'reward.json: line 1, column 15: duplicate key "reward"; the file is "{\\"reward\\": 0, \\"reward\\": 1}"',
    ),
  ],
  ["[1]", null, fault("not-an-object", 'reward.json holds "[1]", not an object')],
  ["1", null, fault("not-an-object", 'reward.json holds "1", not an object')],
  ["{}", null, fault("empty", "reward.json is an object without keys")],
  ['{"pass": 1}', null, fault("wrong-key", 'reward.json has no key "reward"; it has "pass"')],
  ['{"pass": 1}', "1", fault("wrong-key", 'reward.json has no key "reward"; it has "pass"')],
  [
    '{"__proto__": 1, "constructor": 1}',
    null,
    fault("wrong-key", 'reward.json has no key "reward"; it has "__proto__", "constructor"'),
  ],
  ['{"reward": 0}', "1", fault("conflict", "conflicting reward files: reward.json says 0, reward.txt says 1")],
  ['{"reward": 1}', "", fault("empty", "reward.txt is empty")],
])("reward.json %j and reward.txt %j are a fault", (json, txt, expected) => {
  expect(read(json, txt)).toEqual(expected);
});

test("a reward file beyond 64 KiB is refused whatever it holds", () => {
  const large = Buffer.from(`${" ".repeat(64 * 1024)}{"reward":1}`);
  expect(readReward({ json: large, txt: null })).toEqual(fault("too-large", "reward.json has more than 65536 bytes"));
  expect(readReward({ json: null, txt: large })).toEqual(fault("too-large", "reward.txt has more than 65536 bytes"));
});

test("bytes that are not UTF-8 are malformed", () => {
  const reading = readReward({ json: Buffer.from([0x7b, 0xff, 0x7d]), txt: null });
  expect(reading).toEqual(fault("malformed", 'reward.json: the bytes are not UTF-8; the file is "{\ufffd}"'));
});

test("a task may name another primary key", () => {
  expect(read('{"score": 0.25, "reward": 7}', null, "score")).toEqual(
    valid({ score: 0.25, reward: 7 }, "reward.json", 0.25),
  );
  expect(read(null, "0.25", "score")).toEqual(valid({ score: 0.25 }, "reward.txt", 0.25));
});
