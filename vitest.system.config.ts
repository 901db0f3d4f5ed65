import { defineConfig } from "vitest/config";
import base from "./vitest.config.ts";

/** Tests that need more of the machine than Node: openssl, a terminal made by `script`, and minutes to compile the project anew. */
export default defineConfig({
  test: {
    ...base.test,
    include: ["test/system/**/*.test.ts"],
    exclude: [],
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
