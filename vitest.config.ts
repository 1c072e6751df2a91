import { defineConfig } from "vitest/config";

// Node 20 has no `await using` syntax, so the transformer lowers it.
const target = "node20";

// Suites that take minutes even for one agent or one pair of bundles; `npm run whole` has them, too.
const long = ["test/e2e/tamper.test.ts", "test/e2e/agents/record.test.ts", "test/e2e/agents/volume.test.ts"];
const exclude = process.env.RUNNER_TEST_WHOLE === "1" ? [] : long;

export default defineConfig({
  oxc: { target },
  test: {
    // Both of two processors: the default leaves one to a person who works beside the tests.
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: { name: "unit", include: ["test/unit/**/*.test.ts"], testTimeout: 60_000, hookTimeout: 120_000 },
      },
      {
        extends: true,
        test: {
          name: "contract",
          include: ["test/contract/**/*.test.ts"],
          testTimeout: 180_000,
          hookTimeout: 600_000,
          fileParallelism: false,
          globalSetup: ["test/support/engine-setup.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          exclude,
          testTimeout: 300_000,
          hookTimeout: 900_000,
          fileParallelism: false,
          globalSetup: ["test/support/engine-setup.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "crash",
          include: ["test/crash/**/*.test.ts"],
          fileParallelism: false,
          globalSetup: ["test/support/engine-setup.ts"],
        },
      },
    ],
  },
});
