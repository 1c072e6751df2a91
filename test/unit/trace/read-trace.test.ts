import { readFile } from "node:fs/promises";
import { beforeAll, expect, test } from "vitest";
import { readTrace } from "../../../runner/trace/read-trace.ts";
import { startGateway, testConfig } from "../../support/model-provider-gateway.ts";

let bytes = Buffer.alloc(0);
beforeAll(async () => {
  await using gateway = await startGateway(testConfig());
  await fetch(`${gateway.url}/nowhere?x=\u2028\u0085`);
  await gateway.finish();
  bytes = await readFile(`${gateway.folder}/trace.jsonl`);
});

const lines = () => bytes.toString("utf8").trimEnd().split("\n");
const join = (list: readonly string[]) => Buffer.from(`${list.join("\n")}\n`);

test("a whole trace is read to its end", () => {
  const trace = readTrace(bytes, "t");
  expect(trace).toMatchObject({ complete: true, problem: null });
  expect(trace.events.map(({ type }) => type)).toEqual([
    "start",
    "phase",
    "phase",
    "request-refused",
    "phase",
    "phase",
    "end",
  ]);
});

test("lines end with a line feed only, whatever separators stand inside strings", () => {
  const changed = lines().map((line) => line.replace('"trialId":"trial-1"', '"trialId":"a\u2028b\u0085c\u2029d"'));
  expect(readTrace(join(changed), "t").events[0]).toMatchObject({ trialId: "a\u2028b\u0085c\u2029d" });
});

test("at whatever byte a trace is cut, it is incomplete and what stands before is read", () => {
  for (let cut = 0; cut < bytes.length; cut += 1) {
    const trace = readTrace(bytes.subarray(0, cut), "t");
    expect(trace.complete).toBe(false);
    expect(trace.events.length).toBe(bytes.subarray(0, cut).toString("latin1").split("\n").length - 1);
  }
});

test.each<[string, (list: string[]) => string[], RegExp]>([
  ["a line removed", (list) => list.toSpliced(2, 1), /line 3: expected event 2, got 3/],
  [
    "two lines swapped",
    (list) => [list[0] ?? "", list[2] ?? "", list[1] ?? "", ...list.slice(3)],
    /expected event 1, got 2/,
  ],
  ["a line doubled", (list) => list.toSpliced(1, 0, list[1] ?? ""), /expected event 2, got 1/],
  ["a line that is no JSON", (list) => list.with(1, "{"), /line 2/],
  ["a duplicate key", (list) => list.with(1, (list[1] ?? "").replace("{", '{"seq":1,')), /duplicate key "seq"/],
  ["an unknown key", (list) => list.with(1, (list[1] ?? "").replace("{", '{"x":1,')), /Unrecognized key: "x"/],
  ["an unknown type", (list) => list.with(1, (list[1] ?? "").replace('"phase"', '"phrase"')), /line 2/],
  [
    "time that goes back",
    (list) => list.with(1, (list[1] ?? "").replace(/"us":[0-9]+/, '"us":999999999999')),
    /time goes back/,
  ],
  ["no start", (list) => [(list[1] ?? "").replace('"seq":1', '"seq":0')], /the first event is phase, not start/],
  [
    "an event after the end",
    (list) => [...list, (list[1] ?? "").replace(/"seq":1,"us":[0-9]+/, '"seq":7,"us":999999999999')],
    /an event after the end/,
  ],
  [
    "a refusal left out of the counts",
    (list) => list.with(-1, (list.at(-1) ?? "").replace('"requestsRefused":1', '"requestsRefused":0')),
    /the end says 0 requestsRefused, and there are 1/,
  ],
])("%s is damage, and refused with its place", (_title, change, words) => {
  expect(() => readTrace(join(change(lines())), "trace.jsonl")).toThrow(words);
});

test("bytes after the end are damage", () => {
  expect(() => readTrace(Buffer.concat([bytes, Buffer.from("x")]), "t")).toThrow(/1 bytes after the last event/);
});
