/** Loaded with `node -r`: when the process ends, its last line on stderr says as JSON what it has loaded. */

const { writeSync } = require("node:fs");
const { builtinModules } = require("node:module");

process.on("exit", () => {
  const files = Object.keys(require.cache).filter((file) => file !== __filename);
  const loaded = new Set(process.moduleLoadList.map((entry) => entry.replace(/^NativeModule /, "")));
  const ofNode = builtinModules.filter((name) => !name.startsWith("_") && loaded.has(name));
  writeSync(2, `\n${JSON.stringify({ files, ofNode })}\n`);
});
