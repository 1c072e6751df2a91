/** True when the suites run whole (`npm run whole`); otherwise the long ones run a part of themselves, the same part each time. */
export const WHOLE = process.env.RUNNER_TEST_WHOLE === "1";
