/** Time as a port: durations from a monotonic source, wall time only as a label. */
export interface Clock {
  /** Microseconds from an arbitrary origin; never goes back. */
  readonly micros: () => number;
  /** Wall time as ISO 8601 UTC with milliseconds. */
  readonly wall: () => string;
}

/** The machine's clocks. */
export const systemClock: Clock = {
  micros: () => Number(process.hrtime.bigint() / 1000n),
  wall: () => new Date().toISOString(),
};
