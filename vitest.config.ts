import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // What needs more than Node is run by vitest.system.config.ts.
    exclude: ["test/system/**"],
    globalSetup: ["test/support/build.ts"],
    // Colours and connections of whoever runs the tests must not leak into them.
    env: { NO_COLOR: "1", TENON_TOKEN: "", TENON_BASE_URL: "", TENON_DIALECT: "", TENON_ACCOUNT: "" },
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});
