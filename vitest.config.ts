import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts", "examples/**/*.test.ts"],
    // What needs more than Node is run by vitest.system.config.ts, what takes minutes by vitest.chaos.config.ts.
    exclude: ["test/system/**", "test/load/**", "**/*.chaos.test.ts"],
    globalSetup: ["test/support/build.ts"],
    // Colours and connections of whoever runs the tests must not leak into them.
    env: {
      ...{
        NO_COLOR: "1",
        TENON_TOKEN: "",
        TENON_BASE_URL: "",
        TENON_DIALECT: "",
        TENON_SERVICE: "",
        LINODE_TOKEN: "",
        TENON_ACCOUNT: "",
      },
      // A sample of what test:chaos looks at in full.
      TENON_PROPERTY_RUNS: process.env["TENON_PROPERTY_RUNS"] ?? "20",
    },
    // Many tests wait, for a process of their own or for the time of a retry: five more at a time than there are cores take almost half as long.
    maxWorkers: availableParallelism() + 5,
    // No test keeps anything between files: loading the modules anew for each would take a fifth of the time.
    isolate: false,
    // A busy machine is no failure; what must be quick says so itself.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
