/** The analyst, seen from the language server: a process that is started when it is needed, and anew when it ends or takes too long. */

import { type ChildProcess, spawn } from "node:child_process";
import {
  CancellationToken,
  createMessageConnection,
  IPCMessageReader,
  IPCMessageWriter,
  type MessageConnection,
  type RequestType,
} from "vscode-languageserver/node";
import {
  BufferNotification,
  CheckRequest,
  DiskNotification,
  FormatRequest,
  NamesRequest,
  type Occurrence,
  type Outcome,
} from "./requests.ts";

/** An analyst that takes longer for an answer is ended. */
const MAX_ANSWER_MILLISECONDS = 60_000;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** If it ends as often as this by itself within the time, it is not started any more. */
const MAX_ENDS = 5;
const ENDS_WITHIN_MILLISECONDS = 180_000;

/** How the analyst's process is started. */
export interface AnalystCommand {
  readonly file: string;
  readonly args: readonly string[];
}

interface Running {
  readonly process: ChildProcess;
  readonly connection: MessageConnection;
}

/** There is no answer, and `message` says why. */
export class NoAnswer extends Error {}

export class Analysis {
  readonly #command: AnalystCommand;
  /** Every open buffer, for an analyst that is started anew. */
  readonly #buffers: Map<string, string> = new Map();
  #running: Running | null = null;
  #ends: number[] = [];
  #isClosed = false;

  constructor(command: AnalystCommand) {
    this.#command = command;
  }

  /** @param text null: it is closed */
  setBuffer(path: string, text: string | null): void {
    if (text === null) this.#buffers.delete(path);
    else this.#buffers.set(path, text);
    void this.#running?.connection.sendNotification(BufferNotification, { path, text }).catch(() => {});
  }

  /** Something on the disk may have changed. */
  lookAgain(): void {
    void this.#running?.connection.sendNotification(DiskNotification, {}).catch(() => {});
  }

  /** @throws NoAnswer, or that it was cancelled */
  check(directory: string, token: CancellationToken): Promise<Outcome> {
    return this.#ask(CheckRequest, { directory }, token);
  }

  /** @throws NoAnswer, or that it was cancelled */
  names(directory: string, token: CancellationToken): Promise<readonly Occurrence[]> {
    return this.#ask(NamesRequest, { directory }, token);
  }

  /** @throws NoAnswer, or that it was cancelled */
  format(text: string, token: CancellationToken): Promise<string | null> {
    return this.#ask(FormatRequest, { text }, token);
  }

  close(): void {
    this.#isClosed = true;
    this.#end();
  }

  async #ask<Params, Result>(
    type: RequestType<Params, Result, void>,
    params: Params,
    token: CancellationToken = CancellationToken.None,
  ): Promise<Result> {
    const { connection, process } = this.#start();
    let timer: NodeJS.Timeout | undefined;
    let onExit: (() => void) | undefined;
    const failure = new Promise<never>((_, reject) => {
      onExit = () => reject(new NoAnswer("The process that checks projects has ended."));
      process.once("exit", onExit);
      process.once("error", onExit);
      timer = setTimeout(() => {
        const seconds = MAX_ANSWER_MILLISECONDS / 1000;
        reject(new NoAnswer(`The project is not checked: that takes more than ${seconds} seconds.`));
        this.#end();
      }, MAX_ANSWER_MILLISECONDS);
    });
    try {
      return await Promise.race([connection.sendRequest<Result>(type.method, params, token), failure]);
    } finally {
      clearTimeout(timer);
      if (onExit !== undefined) process.off("exit", onExit).off("error", onExit);
    }
  }

  #start(): Running {
    if (this.#running !== null) return this.#running;
    const now = Date.now();
    this.#ends = this.#ends.filter((at) => now - at < ENDS_WITHIN_MILLISECONDS);
    if (this.#isClosed) throw new NoAnswer("The server is shutting down.");
    if (this.#ends.length >= MAX_ENDS) {
      throw new NoAnswer(`Projects are not checked: the process that does it has ended ${MAX_ENDS} times.`);
    }
    const { file, args } = this.#command;
    // Its stdout is not the protocol's.
    const child = spawn(file, args, { stdio: ["ignore", "ignore", "inherit", "ipc"], serialization: "advanced" });
    // Each question under way listens for its end.
    child.setMaxListeners(0);
    const connection = createMessageConnection(new IPCMessageReader(child), new IPCMessageWriter(child));
    const running = { process: child, connection };
    // It sees the end of this process only between two computations.
    const endWith = (signal: NodeJS.Signals): void => {
      child.kill("SIGKILL");
      for (const name of SIGNALS) process.off(name, endWith);
      process.kill(process.pid, signal);
    };
    for (const name of SIGNALS) process.on(name, endWith);
    const ended = (): void => {
      for (const name of SIGNALS) process.off(name, endWith);
      if (this.#running === running) {
        this.#running = null;
        this.#ends.push(Date.now());
      }
      connection.dispose();
    };
    child.once("exit", ended);
    child.once("error", ended);
    connection.onError(() => {});
    connection.listen();
    this.#running = running;
    for (const [path, text] of this.#buffers) void connection.sendNotification(BufferNotification, { path, text });
    return running;
  }

  #end(): void {
    const running = this.#running;
    this.#running = null;
    running?.process.kill("SIGKILL");
  }
}
