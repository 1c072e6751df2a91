import { setMaxListeners } from "node:events";

/**
 * Runs works at once and waits for every one of them, also after a failure: the first failure aborts the signal the others were given, and
 * is thrown when all have ended. Nothing goes on behind the caller's back.
 */
export async function allOrAbort<T>(
  signal: AbortSignal,
  start: (joint: AbortSignal) => readonly Promise<T>[],
): Promise<T[]> {
  const failing = new AbortController();
  let first: { readonly reason: unknown } | undefined;
  const joint = AbortSignal.any([signal, failing.signal]);
  setMaxListeners(0, joint);
  const works = start(joint);
  const results = await Promise.allSettled(
    works.map((work) =>
      work.catch((reason: unknown) => {
        first ??= { reason };
        failing.abort(reason);
        throw reason;
      }),
    ),
  );
  if (first !== undefined) throw first.reason;
  return results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
}
