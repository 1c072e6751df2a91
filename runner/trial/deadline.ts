/** A timer that ends with its scope. */
export interface Deadline extends Disposable {
  /** Resolves when the time is over; never, when there is no limit. */
  readonly over: Promise<void>;
}

/** The longest time a timer can hold; longer limits are waited for in parts. */
const LONGEST_MS = 2 ** 31 - 1;

/** Starts a deadline of `micros` microseconds; null means none. */
export function startDeadline(micros: number | null): Deadline {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    if (micros === null) return;
    const wait = (rest: number): void => {
      timer = setTimeout(() => (rest > LONGEST_MS ? wait(rest - LONGEST_MS) : resolve()), Math.min(rest, LONGEST_MS));
    };
    wait(Math.ceil(micros / 1000));
  });
  return { over, [Symbol.dispose]: () => clearTimeout(timer) };
}
