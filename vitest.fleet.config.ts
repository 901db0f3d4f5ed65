import { defineConfig } from "vitest/config";
import base from "./vitest.config.ts";

/** A fleet of sixty accounts, its workers and their servers, and what may go wrong with them. Needs redis-server and PostgreSQL. */
export default defineConfig({
  test: {
    ...base.test,
    include: ["test/load/**/*.test.ts"],
    exclude: [],
    testTimeout: 1_200_000,
    hookTimeout: 300_000,
  },
});
