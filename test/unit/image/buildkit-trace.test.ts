import { describe, expect, it } from "vitest";
import { traceLines } from "../../../runner/image/buildkit-trace.ts";

const field = (number: number, bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from([number * 8 + 2, bytes.length]), bytes]);
const text = (number: number, words: string): Buffer => field(number, Buffer.from(words));

describe("traceLines", () => {
  it("gives names of steps that begin, what they print, and how they fail", () => {
    const begun = field(
      1,
      Buffer.concat([text(1, "sha256:x"), text(3, "[2/3] RUN make"), field(5, Buffer.from([8, 1]))]),
    );
    const printed = field(3, Buffer.concat([text(1, "sha256:x"), Buffer.from([24, 2]), text(4, "one\r\ntwo\n")]));
    const failed = field(
      1,
      Buffer.concat([text(3, "[2/3] RUN make"), field(6, Buffer.from([8, 2])), text(7, "exit code: 2")]),
    );
    const aux = Buffer.concat([begun, printed, failed]).toString("base64");
    expect(traceLines(aux)).toEqual(["step [2/3] RUN make", "one", "two", "exit code: 2"]);
  });

  it("gives what there is of a record that is cut short, and nothing for anything else", () => {
    expect(
      traceLines(Buffer.concat([field(1, text(3, "a step")), Buffer.from([10, 50, 1])]).toString("base64")),
    ).toEqual(["step a step"]);
    expect(traceLines(undefined)).toEqual([]);
    expect(traceLines({ ID: "sha256:x" })).toEqual([]);
  });
});
