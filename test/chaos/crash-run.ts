/** One account, one project, and real `tenon` processes between which anything may be lost. */

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Emulator, startEmulator } from "../../src/emulator/index.ts";
import { type Ended, MAIN } from "../cli/run.ts";
import { writeInto } from "../support/files.ts";
import { lookAt, type Seen } from "./crash-account.ts";
import { CrashProxy } from "./crash-proxy.ts";
import type { Scenario } from "./crash-scenario.ts";

const TOKEN = "emulator-token";
/** So that whatever is touched after the seed has another `updated`. */
const SEEDED_MILLISECONDS_AGO = 3_600_000;
/** Between two runs: an upload that one of them left is then taken for abandoned. */
const BETWEEN_RUNS_MILLISECONDS = 2 * 3_600_000;
const PROCESS_LIMIT_MILLISECONDS = 180_000;
/** What has got its data is available at the next look: time passes before an unfinished one is judged. */
const READS_UNTIL_AVAILABLE = { creating: 1, pendingUpload: 0 };

export class CrashRun {
  readonly emulator: Emulator;
  readonly proxy: CrashProxy;
  /** The project, new and of this run alone. */
  readonly folder: string;
  readonly #children = new Set<ChildProcess>();
  readonly #time: { behind: number };

  private constructor(emulator: Emulator, proxy: CrashProxy, folder: string, time: { behind: number }) {
    this.#time = time;
    this.emulator = emulator;
    this.proxy = proxy;
    this.folder = folder;
  }

  static async open({ seed, project }: Scenario): Promise<CrashRun> {
    const time = { behind: SEEDED_MILLISECONDS_AGO };
    const readsUntilAvailable = READS_UNTIL_AVAILABLE;
    const emulator = await startEmulator({ seed, readsUntilAvailable, now: () => Date.now() - time.behind });
    const folder = await mkdtemp(join(tmpdir(), "tenon-crash-"));
    await writeInto(folder, project);
    return new CrashRun(emulator, await CrashProxy.start(emulator.port), folder, time);
  }

  async close(): Promise<void> {
    for (const child of this.#children) child.kill("SIGKILL");
    await this.proxy.close();
    await this.emulator.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  seen(): Promise<Seen> {
    return lookAt(this.emulator.baseUrl, TOKEN);
  }

  async run(args: readonly string[]): Promise<Ended> {
    return (await this.start(args)).ended;
  }

  /** The process itself, not one that started it: what is killed is what works. */
  start(args: readonly string[]): Running {
    this.#time.behind -= BETWEEN_RUNS_MILLISECONDS;
    const env = { PATH: process.env["PATH"], TENON_TOKEN: TOKEN, TENON_BASE_URL: this.proxy.baseUrl };
    const child = spawn(process.execPath, [MAIN, ...args], {
      cwd: this.folder,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#children.add(child);
    const timer = setTimeout(() => child.kill("SIGKILL"), PROCESS_LIMIT_MILLISECONDS);
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    const ended = new Promise<Gone>((resolve) => {
      child.on("close", (code, signal) => {
        clearTimeout(timer);
        this.#children.delete(child);
        resolve({ code, signal, stdout, stderr });
      });
    });
    return { child, ended };
  }
}

export interface Running {
  readonly child: ChildProcess;
  /** The process is gone and all its output is here. */
  readonly ended: Promise<Gone>;
}

export interface Gone extends Ended {
  /** What killed it; null: nothing did. */
  readonly signal: NodeJS.Signals | null;
}
