import { expect, test } from "vitest";
import { AsyncStack, withStack } from "../../../runner/base/stack.ts";

test("a stack disposes in reverse order when its scope ends", async () => {
  const order: string[] = [];
  {
    await using stack = new AsyncStack();
    stack.defer(() => void order.push("first acquired"));
    stack.defer(async () => void order.push("second acquired"));
  }
  expect(order).toEqual(["second acquired", "first acquired"]);
});

function worldOf(broken: boolean) {
  const disposed: string[] = [];
  const left: unknown[] = [];
  const thing = (name: string, fails: boolean): AsyncDisposable => ({
    [Symbol.asyncDispose]: async () => {
      disposed.push(name);
      if (fails) throw new Error(`${name} stays`);
    },
  });
  const note = (thrown: unknown): void => void left.push((thrown as Error).message);
  const fill = (stack: AsyncDisposableStack): void => {
    stack.use(thing("network", false));
    stack.use(thing("container", broken));
  };
  return { disposed, left, note, fill };
}

test("what the work gave stands although something could not be disposed, and the rest is disposed all the same", async () => {
  const { disposed, left, note, fill } = worldOf(true);
  const given = await withStack(async (stack) => {
    fill(stack);
    return "graded";
  }, note);
  expect([given, disposed, left]).toEqual(["graded", ["container", "network"], ["container stays"]]);
});

test("the work's own failure is the one that is thrown, whatever could not be disposed", async () => {
  const { disposed, left, note, fill } = worldOf(true);
  const failing = withStack(async (stack) => {
    fill(stack);
    throw new Error("the provider failed");
  }, note);
  await expect(failing).rejects.toThrow("the provider failed");
  expect([disposed, left]).toEqual([["container", "network"], ["container stays"]]);
});

test("nothing is told where everything was disposed", async () => {
  const { disposed, left, note, fill } = worldOf(false);
  await withStack(async (stack) => fill(stack), note);
  expect([disposed, left]).toEqual([["container", "network"], []]);
});
