import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { BoundedOutput } from "../../../../runner/agent/toolloop/bounded-output.ts";
import { runShell } from "../../../../runner/agent/toolloop/shell-tool.ts";

const options = { workdir: tmpdir(), seconds: 20, outputBytes: 2048 };

test("output beyond the bound keeps its beginning and its end, with the number of bytes left out", async () => {
  const { text, isError } = await runShell("printf START; head -c 5000000 /dev/zero | tr '\\0' x; printf END", options);
  expect(isError).toBe(false);
  expect(text.startsWith("[exit code 0]\nSTARTxxx")).toBe(true);
  expect(text.endsWith("xxxEND")).toBe(true);
  expect(text).toContain(`\n[... ${5_000_008 - 2048} bytes left out ...]\n`);
});

test("at the time limit the command and its children are killed, and what it had printed is kept", async () => {
  const { text, isError } = await runShell("trap '' TERM; echo begun; sleep 60 & sleep 60", {
    ...options,
    seconds: 0.5,
  });
  expect([text, isError]).toEqual(["[stopped after the limit of 0.5 seconds]\nbegun\n", true]);
});

test("a background process that holds the output does not hold the loop", async () => {
  const { text } = await runShell("sleep 5 & echo $!", options);
  expect(text).toMatch(/^\[exit code 0\]\n[0-9]+\n$/);
  process.kill(Number(text.split("\n")[1]));
});

test("bytes that are no text and a signal's end are told", async () => {
  expect((await runShell("printf 'a\\377b\\000c'; kill -9 $$", options)).text).toBe("[ended by SIGKILL]\na\uFFFDb\0c");
});

test("a working directory that is not there is told", async () => {
  const { text, isError } = await runShell("true", { ...options, workdir: "/no/such/folder" });
  expect([isError, text]).toEqual([true, expect.stringContaining("could not be started")]);
});

test.each([1, 2, 3, 4, 5, 7, 11])(
  "characters are not split by the bound when output comes in pieces of %i bytes",
  (size) => {
    const bytes = Buffer.from("é—𝔘".repeat(300));
    const output = new BoundedOutput(101);
    for (let at = 0; at < bytes.length; at += size) output.push(bytes.subarray(at, at + size));
    const [head = "", mark = "", tail = ""] = output.text().split("\n");
    expect(output.text()).not.toContain("\uFFFD");
    expect("é—𝔘".repeat(300).startsWith(head)).toBe(true);
    expect("é—𝔘".repeat(300).endsWith(tail)).toBe(true);
    expect(mark).toBe(`[... ${bytes.length - Buffer.byteLength(head) - Buffer.byteLength(tail)} bytes left out ...]`);
  },
);

test("output within the bound is whole, also when it came in many pieces", () => {
  const output = new BoundedOutput(100);
  for (let index = 0; index < 100; index += 1) output.push(Buffer.from("y"));
  expect(output.text()).toBe("y".repeat(100));
});
