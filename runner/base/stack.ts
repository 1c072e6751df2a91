import AsyncDisposableStackPolyfill from "disposablestack/AsyncDisposableStack";

/** Node 20 has no `AsyncDisposableStack`; this is it, or its well-kept polyfill. */
export const AsyncStack: typeof AsyncDisposableStack = globalThis.AsyncDisposableStack ?? AsyncDisposableStackPolyfill;
export type AsyncStack = AsyncDisposableStack;
