import { defineConfig } from "vitest/config";
import base from "./vitest.config.ts";

/** Tests that need more of the machine than Node: openssl, and a terminal made by `script`. */
export default defineConfig({ test: { ...base.test, include: ["test/system/**/*.test.ts"], exclude: [] } });
