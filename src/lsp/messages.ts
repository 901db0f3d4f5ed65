/** Reads JSON-RPC messages from an editor: each of bounded size. What is no message is answered; what has no frame ends the connection. */

import type { Readable } from "node:stream";
import {
  AbstractMessageReader,
  type DataCallback,
  type Disposable,
  ErrorCodes,
  type Message,
  type MessageReader,
  type ResponseMessage,
} from "vscode-languageserver/node";

/** One message. A manifest may have 8 MiB, and JSON writes some characters as six. */
export const MAX_MESSAGE_BYTES: number = 64 * 1024 * 1024;
/** What stands before a message: its length, and perhaps its type. */
export const MAX_HEADER_BYTES = 4096;

const HEADER_END = "\r\n\r\n";

interface ReaderOptions {
  readonly input: Readable;
  /** Sends an answer to what is no request that can be handled. */
  answer(response: ResponseMessage): void;
  /** The input cannot be divided into messages any more. @param why a clause */
  refuse(why: string): void;
}

/** Nothing but `initialize` may be asked before that is answered. */
const SERVER_NOT_INITIALIZED = -32002;

export class EditorMessages extends AbstractMessageReader implements MessageReader {
  readonly #options: ReaderOptions;
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Of the message whose header has been read; null: a header comes next. */
  #length: number | null = null;
  #isInitialized = false;
  #isRefused = false;
  #callback: DataCallback = () => {};

  constructor(options: ReaderOptions) {
    super();
    this.#options = options;
  }

  listen(callback: DataCallback): Disposable {
    this.#callback = callback;
    const { input } = this.#options;
    const onData = (chunk: Buffer): void => this.#take(chunk);
    const onEnd = (): void => this.#end();
    input.on("data", onData);
    input.on("end", onEnd);
    input.on("error", onEnd);
    return { dispose: () => void input.off("data", onData).off("end", onEnd).off("error", onEnd) };
  }

  #take(chunk: Buffer): void {
    if (this.#isRefused) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    while (!this.#isRefused && (this.#length === null ? this.#readHeader() : this.#readBody(this.#length)));
  }

  #end(): void {
    if (this.#isRefused) return;
    if (this.#bytes > 0 || this.#length !== null) this.#refuse("the input ends within a message");
    // Who says no more has gone; what was said before comes first.
    else this.#callback({ jsonrpc: "2.0", method: "exit" } as Message);
  }

  /** @returns whether there is more to read */
  #readHeader(): boolean {
    const buffer = this.#joined();
    const end = buffer.subarray(0, MAX_HEADER_BYTES).indexOf(HEADER_END, 0, "latin1");
    if (end === -1) {
      if (!isBeginningOfHeader(buffer)) this.#refuse("it does not begin with a header such as Content-Length: 42");
      else if (buffer.length >= MAX_HEADER_BYTES) this.#refuse(`no header ends within ${MAX_HEADER_BYTES} bytes`);
      return false;
    }
    const length = lengthOf(buffer.toString("latin1", 0, end));
    if (typeof length === "string") {
      this.#refuse(length);
      return false;
    }
    this.#length = length;
    this.#rest(buffer.subarray(end + HEADER_END.length));
    return true;
  }

  #readBody(length: number): boolean {
    if (this.#bytes < length) return false;
    const buffer = this.#joined();
    this.#length = null;
    this.#rest(buffer.subarray(length));
    this.#handle(buffer.toString("utf8", 0, length));
    return this.#bytes > 0;
  }

  #joined(): Buffer {
    const [first] = this.#chunks;
    return this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks);
  }

  #rest(buffer: Buffer): void {
    this.#chunks = [buffer];
    this.#bytes = buffer.length;
  }

  #handle(text: string): void {
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      this.#answer(null, ErrorCodes.ParseError, "The message is not JSON.");
      return;
    }
    const { id, method } = (isObject(message) ? message : {}) as { readonly id?: unknown; readonly method?: unknown };
    const known = typeof id === "string" || typeof id === "number" ? id : null;
    const isAnswer =
      method === undefined && known !== null && isObject(message) && ("result" in message || "error" in message);
    if (!isObject(message) || (typeof method !== "string" && !isAnswer)) {
      this.#answer(
        known,
        ErrorCodes.InvalidRequest,
        "The message is neither a request nor a notification nor an answer.",
      );
    } else if ("params" in message && !isObject(message["params"]) && !Array.isArray(message["params"])) {
      if (message["params"] === null) this.#pass({ ...message, params: undefined });
      else this.#answer(known, ErrorCodes.InvalidParams, "The parameters are neither an object nor a list.");
    } else this.#pass(message);
  }

  #pass(message: Readonly<Record<string, unknown>>): void {
    const { id, method } = message as { readonly id?: string | number; readonly method?: string };
    if (method === "initialize") {
      if (this.#isInitialized) {
        this.#answer(id ?? null, ErrorCodes.InvalidRequest, "initialize was sent before.");
        return;
      }
      this.#isInitialized = true;
    } else if (!this.#isInitialized && method !== "exit") {
      if (id !== undefined) this.#answer(id, SERVER_NOT_INITIALIZED, "The first request is initialize.");
      return;
    }
    if (!hasFieldsOf(method, message["params"])) return;
    this.#callback(message as unknown as Message);
  }

  #answer(id: string | number | null, code: number, message: string): void {
    this.#options.answer({ jsonrpc: "2.0", id, error: { code, message } });
  }

  #refuse(why: string): void {
    this.#isRefused = true;
    this.#chunks = [];
    this.#bytes = 0;
    this.#length = null;
    this.#options.refuse(why);
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a notification has the fields that the protocol's library reads outside of its error handling. What it reads of others it handles itself. */
function hasFieldsOf(method: string | undefined, params: unknown): boolean {
  const fields = isObject(params) ? params : {};
  if (method === "$/cancelRequest") return typeof fields["id"] === "string" || typeof fields["id"] === "number";
  if (method?.startsWith("textDocument/did") === true) {
    const { textDocument } = fields;
    // A document that is opened without them is kept, and found later among those that are open.
    return hasUri(textDocument) && (method !== "textDocument/didOpen" || typeof textDocument["text"] === "string");
  }
  if (method !== "workspace/didChangeWorkspaceFolders") return true;
  const { added, removed } = isObject(fields["event"]) ? fields["event"] : {};
  return [added, removed].every((folders) => Array.isArray(folders) && folders.every(hasUri));
}

function hasUri(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && typeof value["uri"] === "string";
}

/** Whether a header can still come of it: a terminal, or another protocol, is told at once. */
function isBeginningOfHeader(buffer: Buffer): boolean {
  const [line = ""] = buffer.toString("latin1").split("\r\n", 1);
  // The end of the line may come in the next part.
  return /^[A-Za-z-]*(:[^\n]*)?$/.test(line) && !/^[A-Za-z-]+\n/.test(line);
}

/** @returns why it cannot be used, as a clause */
function lengthOf(header: string): number | string {
  const lines = header.split("\r\n");
  const length = lines.flatMap((line) => /^content-length:[ \t]*(.*)$/i.exec(line)?.[1]?.trim() ?? [])[0];
  if (length === undefined) return "a message has no Content-Length";
  if (!/^\d{1,15}$/.test(length)) return "a Content-Length is no number";
  if (Number(length) <= MAX_MESSAGE_BYTES) return Number(length);
  return `a message has ${(Number(length) / 1024 ** 2).toFixed(0)} MiB, and may have ${MAX_MESSAGE_BYTES / 1024 ** 2}`;
}
