import AsyncDisposableStackPolyfill from "disposablestack/AsyncDisposableStack";

/** Node 20 has no `AsyncDisposableStack`; this is it, or its well-kept polyfill. */
export const AsyncStack: typeof AsyncDisposableStack = globalThis.AsyncDisposableStack ?? AsyncDisposableStackPolyfill;
export type AsyncStack = AsyncDisposableStack;

/**
 * Does work that fills a stack, then disposes the stack. What the work gave, or threw, stands: what could not be disposed is told apart,
 * to `leftBehind`.
 */
export async function withStack<T>(
  work: (stack: AsyncStack) => Promise<T>,
  leftBehind: (thrown: unknown) => void,
): Promise<T> {
  const stack = new AsyncStack();
  try {
    return await work(stack);
  } finally {
    await stack.disposeAsync().catch(leftBehind);
  }
}
