import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import base from "./vitest.config.ts";

/**
 * The full sets of what may go wrong while an apply or the emulator runs, and of the worlds that properties hold in: minutes, where
 * `npm test` takes samples of the same.
 */
export default defineConfig({
  test: {
    ...base.test,
    include: [
      "test/chaos/**/*.chaos.test.ts",
      "test/chaos/sharing.test.ts",
      "test/property/**/*.test.ts",
      "test/emulator/crash.test.ts",
      "test/format/comments.test.ts",
      "test/import/lift.test.ts",
    ],
    env: {
      ...base.test?.env,
      TENON_PROPERTY_RUNS: process.env["TENON_PROPERTY_RUNS"] ?? "500",
      TENON_CRASH_ROUNDS: "8",
    },
    exclude: [],
    maxWorkers: availableParallelism(),
    testTimeout: 1_200_000,
  },
});
