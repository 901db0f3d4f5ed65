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
  /** From the end of the request. */
  readonly firstByteMilliseconds: number;
  readonly totalMilliseconds: number;
}

export interface RawRequest {
  readonly method?: string;
  /** Below the origin. */
  readonly path: string;
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

export function rawExchange(
  port: number,
  { method = "GET", path, body = "", headers }: RawRequest,
): Promise<RawAnswer> {
  const all = {
    host: `127.0.0.1:${port}`,
    connection: "close",
    "content-length": String(Buffer.byteLength(body)),
    ...(headers ?? { authorization: "Bearer emulator-token", "content-type": "application/json" }),
  };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let [sentAt, firstAt, reset] = [performance.now(), 0, false];
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(`${method} ${path} HTTP/1.1\r\n${head.join("")}\r\n`);
      socket.write(body);
      sentAt = performance.now();
    });
    socket.on("data", (chunk) => {
      if (chunks.push(chunk) === 1) firstAt = performance.now();
    });
    socket.on("error", () => {
      reset = true;
    });
    socket.on("close", () => {
      const text = Buffer.concat(chunks).toString("utf8");
      const end = text.indexOf("\r\n\r\n");
      resolve({
        text,
        head: text.slice(0, Math.max(end, 0)).toLowerCase(),
        body: end === -1 ? "" : text.slice(end + 4),
        status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0),
        reset,
        firstByteMilliseconds: firstAt - sentAt,
        totalMilliseconds: performance.now() - sentAt,
      });
    });
  });
}
