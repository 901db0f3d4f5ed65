/**
 * docs/how-to/run-many-accounts.md from nothing to four workers: its files are written, and its commands run as they stand there, in a shell, one
 * after the other, on a real server. Only the server's address is another one.
 */

import { spawn } from "node:child_process";
import { chmod, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { emulator, envOf, folder, MAIN } from "../cli/run.ts";
import { freePort, startPostgres } from "../support/stores.ts";

const PAGE = join(import.meta.dirname, "../../docs/how-to/run-many-accounts.md");
/** A file; commands whose output test/docs compares; and those of workers, some for one kind of server alone. */
const BLOCK =
  /^ *<!-- (?:file: (?<file>\S+)|(?<run>run)|shell(?:: (?<engine>\w+))?) -->\n *```\w+\n(?<text>.*?)^ *```$/gms;
const MARK = "=== next command";

interface Command {
  readonly line: string;
  readonly shown: string;
  /** Whether its output is this test's to compare. */
  readonly isCompared: boolean;
}

interface Page {
  readonly files: ReadonlyMap<string, string>;
  readonly commands: readonly Command[];
}

async function pageFor(engine: "redis" | "postgres"): Promise<Page> {
  const files = new Map<string, string>();
  const commands: Command[] = [];
  for (const { groups } of (await readFile(PAGE, "utf8")).matchAll(BLOCK)) {
    const { file, run, engine: only = engine, text = "" } = groups ?? {};
    if (file !== undefined) files.set(file, text);
    if (file !== undefined || only !== engine) continue;
    // A block within a list is indented.
    const lines = text.replaceAll(/^ {3}(?=\S)/gm, run === undefined ? "" : "   ").split(/^\$ /m);
    for (const one of lines.slice(1)) {
      const [line = "", ...shown] = one.split("\n");
      commands.push({ line, shown: shown.join("\n").trim(), isCompared: run === undefined });
    }
  }
  return { files, commands };
}

/** @returns what the shell printed, for each command; the messages of all */
async function play(
  lines: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly outputs: readonly string[]; readonly messages: string }> {
  const script = lines.flatMap((line) => [`echo "${MARK}"`, line]).join("\n");
  // Servers and workers that the page leaves running are in the shell's group.
  const shell = spawn("bash", ["-c", script], { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const { pid } = shell;
  if (pid === undefined) throw new Error("there is no bash");
  onTestFinished(() => void process.kill(-pid, "SIGKILL"));
  const texts = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    shell[stream].setEncoding("utf8").on("data", (more: string) => {
      texts[stream] += more;
    });
  }
  // Those that it leaves running keep the streams open.
  await new Promise((resolve) => shell.once("exit", resolve));
  return { outputs: texts.stdout.split(`${MARK}\n`).slice(1), messages: texts.stderr };
}

test.each(["redis", "postgres"] as const)("the commands of the page lead to four workers on %s", async (engine) => {
  const { files, commands } = await pageFor(engine);
  const cwd = await folder(Object.fromEntries(files));
  const bin = await folder({ tenon: `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n` });
  await chmod(join(bin, "tenon"), 0o755);
  const service = await emulator();
  const env = { ...envOf(service), PATH: `${bin}:${process.env["PATH"]}`, NO_COLOR: "1", HOME: cwd };

  const port = String(await freePort());
  const address = /postgres:\/\/\S+/;
  const server = engine === "postgres" ? await startPostgres() : null;
  onTestFinished(() => server?.stop());
  const placed = commands.map(({ line }) => line.replaceAll("6379", port).replace(address, server?.url ?? ""));
  expect(placed.join("\n")).toContain(server?.url ?? `--port ${port}`);
  const { outputs, messages } = await play(placed, cwd, env);

  const compared = commands.flatMap(({ line, shown, isCompared }, index) =>
    isCompared ? [{ line, shown, found: (outputs[index] ?? "").trim() }] : [],
  );
  expect(compared.map(({ line, found }) => [line, found])).toEqual(compared.map(({ line, shown }) => [line, shown]));
  expect(compared.map(({ line }) => line).join("\n")).toMatch(/fleet worker.*fleet plan.*fleet apply/s);
  expect(messages).not.toMatch(/error|warning|lost/);

  const logs = await Promise.all([1, 2, 3, 4].map((number) => readFile(join(cwd, `worker-${number}.log`), "utf8")));
  for (const log of logs) expect(log).toMatch(/^Serving 3 accounts as \S+:\d+, 4 at a time\.$/m);
  for (const name of ["bakery", "florist", "test"]) {
    for (const done of [`${name}: plan: 1 to change`, `${name}: apply: 1 changed`, `${name}: drift: no drift`]) {
      expect(logs.join("\n")).toContain(done);
    }
  }
});
