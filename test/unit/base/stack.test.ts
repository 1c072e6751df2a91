import { expect, test } from "vitest";
import { AsyncStack } from "../../../runner/base/stack.ts";

test("a stack disposes in reverse order when its scope ends", async () => {
  const order: string[] = [];
  {
    await using stack = new AsyncStack();
    stack.defer(() => void order.push("first acquired"));
    stack.defer(async () => void order.push("second acquired"));
  }
  expect(order).toEqual(["second acquired", "first acquired"]);
});
