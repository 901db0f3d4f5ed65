/**
 * Checks the lock file of the tool, in the working folder. Needs only Node.
 *
 *   lock.mjs hashes     before the installation: checks that each package has a hash, which npm compares with the download
 *   lock.mjs installed  after it: checks that each package is installed in the version of the lock file, and that the command tenon belongs to tenon
 */

import { readFile, realpath } from "node:fs/promises";
import { join, sep } from "node:path";

const TOOL = "node_modules/tenon";
const COMMAND = "node_modules/.bin/tenon";
const HASH = /^sha512-[A-Za-z0-9+/]{86}==$/;

const commands = { hashes, installed };

function hashes(packages) {
  if (packages[TOOL] === undefined) return [`${TOOL} is not in it`];
  // The hash of a package covers the packages bundled in it. A link leads to a folder, which has no hash.
  const bare = ([, entry]) => entry.inBundle !== true && (entry.link === true || !HASH.test(entry.integrity ?? ""));
  return Object.entries(packages)
    .filter(bare)
    .map(([path]) => `${path} has no sha512 hash`);
}

async function installed(packages) {
  const wanted = Object.entries(packages).filter(([, { optional, dev }]) => optional !== true && dev !== true);
  const problems = await Promise.all(
    wanted.map(async ([path, { version }]) => {
      const found = await readFile(join(path, "package.json"), "utf8").then(JSON.parse, () => undefined);
      return found?.version === version ? [] : [`${path} is ${found?.version ?? "not there"} instead of ${version}`];
    }),
  );
  const [tool, command] = await Promise.all([TOOL, COMMAND].map((path) => realpath(path).catch(() => "")));
  if (!command.startsWith(`${tool}${sep}`)) problems.push([`${COMMAND} is not of ${TOOL}`]);
  return problems.flat();
}

const [name] = process.argv.slice(2);
const command = Object.hasOwn(commands, name ?? "") ? commands[name] : undefined;
if (command === undefined) throw new Error(`one of: ${Object.keys(commands).join(", ")}`);
const { packages: { "": _, ...packages } = {} } = JSON.parse(await readFile("package-lock.json", "utf8"));
const problems = await command(packages);
for (const problem of problems) process.stderr.write(`ci/tool/package-lock.json: ${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
