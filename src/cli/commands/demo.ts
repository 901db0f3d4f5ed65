/** `tenon demo`: the example project against an emulated account, by the commands that a person would type. */

import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import pc from "picocolors";
import type { Emulator } from "../../emulator/index.ts";
import { copyPackageFolder, isStandalone, packageFile, readPackageFile } from "../../files/package-files.ts";
import { EXIT, type ExitCode, type Finish } from "../exit.ts";
import { sayError } from "../messages.ts";
import type { Terminal } from "../terminal.ts";

export function define(command: Command, terminal: Terminal, finish: Finish): void {
  command
    .description(
      "Plan and apply an example project against an emulated account, with the\ncommands you would type. Nothing outside a temporary folder is touched.",
    )
    .addHelpText(
      "after",
      `
Examples:
  tenon demo`,
    )
    .action(async () => {
      finish(await demo(terminal));
    });
}

const EXAMPLE = "examples/demo";
/** What stands before the arguments of a scene: the running program, unless Node itself is that. */
const PROGRAM: readonly string[] = isStandalone ? [] : [process.argv[1] ?? ""];
const TOKEN = "emulator-token";
/** The interface that keeps the subnet `legacy` of account.yaml. */
const HELD_INTERFACE = 9002;

interface Scene {
  /** The text before the command. */
  readonly says: string;
  readonly args: readonly string[];
  readonly ends: ExitCode;
  /** A text that stdout must hold, or the demo has failed. */
  readonly shows: string;
}

const BEFORE: readonly Scene[] = [
  {
    says: "The manifests are checked first; this needs no connection.",
    args: ["validate"],
    ends: EXIT.done,
    shows: "",
  },
  {
    says: "What would change? The account has been lived in: things are missing, changed, renamed, made by hand, left over.",
    args: ["plan"],
    ends: EXIT.done,
    shows: "1 blocked",
  },
  {
    says: "All of it but the subnet that an interface holds: what is blocked is left out, and exit code 6 says so.",
    args: ["apply", "--yes"],
    ends: EXIT.partial,
    shows: "blocked",
  },
];

const AFTER: readonly Scene[] = [
  {
    says: "Now the subnet can go.",
    args: ["apply", "--yes"],
    ends: EXIT.done,
    shows: "",
  },
  {
    says: "And nothing is left to do.",
    args: ["plan", "--detailed-exitcode"],
    ends: EXIT.done,
    shows: "\nNo changes. Your infrastructure matches the configuration.",
  },
];

function demo(terminal: Terminal): Promise<ExitCode> {
  // A signal ends the running command by itself; then the demo removes its folder and emulator.
  return terminal.interrupt.whileHandlingSignals(() => playAll(terminal));
}

async function playAll(terminal: Terminal): Promise<ExitCode> {
  const folder = await mkdtemp(join(tmpdir(), "tenon-demo-"));
  try {
    const project = join(folder, "infra");
    await copyPackageFolder(EXAMPLE, project);
    const { parseSeed, startEmulator } = await import("../../emulator/index.ts");
    const seed = parseSeed(readPackageFile(`${EXAMPLE}/account.yaml`));
    const emulator = await startEmulator({ seed });
    try {
      return await play(terminal, emulator, project);
    } finally {
      await emulator.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function play(terminal: Terminal, emulator: Emulator, project: string): Promise<ExitCode> {
  const paint = pc.createColors(terminal.results.colour);
  const show = (text: string) => terminal.print(text);
  show(`${paint.bold("An account to try Tenon on: the whole API, emulated on this machine.")}\n`);
  show(`The project is a copy of ${isStandalone ? EXAMPLE : packageFile(EXAMPLE)}.\n\n`);
  for (const [name, value] of [
    ["TENON_BASE_URL", emulator.baseUrl],
    ["TENON_TOKEN", TOKEN],
  ]) {
    show(`${paint.dim("$")} export ${name}=${value}\n`);
  }
  const run = (scene: Scene) => perform(terminal, scene, project, emulator.baseUrl, paint);
  for (const scene of BEFORE) if (!(await run(scene))) return EXIT.error;
  show(`\n${paint.cyan("# Somebody shuts the node down and deletes the interface.")}\n`);
  show(`${paint.dim("$")} curl -X POST -H 'content-type: application/json' -H 'x-tenon-emulator: yes' \\\n`);
  show(`    -d '{"interface_id": ${HELD_INTERFACE}}' ${new URL("/_emulator/detach", emulator.baseUrl)}\n`);
  await emulator.detach(HELD_INTERFACE);
  for (const scene of AFTER) if (!(await run(scene))) return EXIT.error;
  return EXIT.done;
}

/** Runs one command as a process of its own, and shows the command and all its output. */
async function perform(
  terminal: Terminal,
  { says, args, ends, shows }: Scene,
  project: string,
  baseUrl: string,
  paint: ReturnType<typeof pc.createColors>,
): Promise<boolean> {
  terminal.print(`\n${paint.cyan(`# ${says}`)}\n${paint.dim("$")} ${paint.bold(`tenon ${args.join(" ")}`)}\n`);
  const colour = terminal.results.colour ? { FORCE_COLOR: "1" } : { NO_COLOR: "1" };
  const child = spawn(process.execPath, [...PROGRAM, ...args], {
    cwd: project,
    env: {
      ...terminal.environment,
      ...colour,
      TENON_BASE_URL: baseUrl,
      TENON_TOKEN: TOKEN,
      TENON_DIALECT: "",
      TENON_SERVICE: "",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let results = "\n";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    results += text;
    terminal.print(text);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  if (code === ends && results.includes(shows)) return true;
  const summary = `the demo went wrong: tenon ${args.join(" ")} ended with ${code}, where ${ends} was expected`;
  sayError(terminal, { code: "demo-failed", summary });
  return false;
}
