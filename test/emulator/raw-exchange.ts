/** One request over a socket of its own, and all that came back, to the byte. */

import { connect } from "node:net";

export interface RawAnswer {
  /** All bytes, head and body. */
  readonly text: string;
  readonly head: string;
  readonly body: string;
  /** 0: no head came. */
  readonly status: number;
  /** The connection did not end as connections should. */
  readonly reset: boolean;
  /** How many times something came. */
  readonly pieces: number;
}

export interface OpenExchange {
  /** What has come so far. */
  received(): string;
  readonly ended: Promise<RawAnswer>;
}

export interface RawRequest {
  readonly method?: string;
  /** Below the origin. */
  readonly path: string;
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

export function rawExchange(port: number, request: RawRequest): Promise<RawAnswer> {
  return openExchange(port, request).ended;
}

export function openExchange(port: number, { method = "GET", path, body = "", headers }: RawRequest): OpenExchange {
  const all = {
    host: `127.0.0.1:${port}`,
    connection: "close",
    "content-length": String(Buffer.byteLength(body)),
    ...(headers ?? { authorization: "Bearer emulator-token", "content-type": "application/json" }),
  };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const chunks: Buffer[] = [];
  const received = (): string => Buffer.concat(chunks).toString("utf8");
  const ended = new Promise<RawAnswer>((resolve) => {
    let reset = false;
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(`${method} ${path} HTTP/1.1\r\n${head.join("")}\r\n`);
      socket.write(body);
    });
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", () => {
      reset = true;
    });
    socket.on("close", () => {
      const text = received();
      const end = text.indexOf("\r\n\r\n");
      resolve({
        text,
        head: text.slice(0, Math.max(end, 0)).toLowerCase(),
        body: end === -1 ? "" : text.slice(end + 4),
        status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0),
        reset,
        pieces: chunks.length,
      });
    });
  });
  return { received, ended };
}
