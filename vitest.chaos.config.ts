import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import base from "./vitest.config.ts";

/** The full sets of what may go wrong while an apply runs: minutes, where `npm test` takes seeded samples of the same. */
export default defineConfig({
  test: {
    ...base.test,
    include: ["test/chaos/**/*.chaos.test.ts"],
    exclude: [],
    maxWorkers: availableParallelism(),
    testTimeout: 1_200_000,
  },
});
