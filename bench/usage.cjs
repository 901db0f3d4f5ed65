/** Loaded with `node -r` into a process that is measured: what it has used is written to the file TENON_BENCH_USAGE when it ends. */

const { writeFileSync } = require("node:fs");

process.on("exit", () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const seconds = (userCPUTime + systemCPUTime) / 1e6;
  writeFileSync(process.env.TENON_BENCH_USAGE, JSON.stringify({ seconds, mebibytes: maxRSS / 1024 }));
});
