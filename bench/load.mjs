/** A loader that costs less than what it loads: HTTP/1.1 over raw sockets, one request at a time on each. */

import { connect } from "node:net";

const HEAD_END = "\r\n\r\n";

/** @returns the bytes of a request; `body` is sent as JSON */
export function request(method, path, { body, headers = {} } = {}) {
  const text = body === undefined ? "" : JSON.stringify(body);
  const lines = [`${method} ${path} HTTP/1.1`, "host: localhost", "authorization: Bearer emulator-token"];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (text !== "") lines.push("content-type: application/json", `content-length: ${Buffer.byteLength(text)}`);
  return `${lines.join("\r\n")}${HEAD_END}${text}`;
}

/**
 * Sends until there is nothing more.
 * @param next gives a lane's next request (see `request`), null when there is none; called once the last one was answered
 * @param answered is told each answer; `body()` makes its text
 */
export async function load(port, lanes, next, answered) {
  await Promise.all(Array.from({ length: lanes }, (_, lane) => runLane(port, lane, next, answered)));
}

function runLane(port, lane, next, answered) {
  const { promise, resolve, reject } = deferred();
  const socket = connect({ host: "127.0.0.1", port, noDelay: true });
  let chunks = [];
  let received = 0;
  let expected = 0;
  let bodyStart = 0;
  const send = () => {
    const text = next(lane);
    if (text === null) socket.end(resolve);
    else socket.write(text);
  };
  const take = (chunk) => {
    chunks.push(chunk);
    received += chunk.length;
    if (expected === 0) {
      const start = chunks.length === 1 ? chunk : Buffer.concat(chunks);
      const end = start.indexOf(HEAD_END);
      if (end === -1) return;
      bodyStart = end + HEAD_END.length;
      expected = bodyStart + Number(/content-length: (\d+)/i.exec(start.latin1Slice(0, end))[1]);
    }
    if (received < expected) return;
    const all = chunks;
    const from = bodyStart;
    chunks = [];
    received = 0;
    expected = 0;
    answered({
      lane,
      status: Number(all[0].latin1Slice(9, 12)),
      body: () => Buffer.concat(all).toString("utf8", from),
    });
    send();
  };
  socket.on("connect", send).on("data", take).on("error", reject);
  socket.on("close", () => reject(new Error("The server closed the connection")));
  return promise;
}

function deferred() {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
}

/** One request. @returns status and body */
export async function one(port, text) {
  let answer;
  let sent = false;
  const next = () => {
    if (sent) return null;
    sent = true;
    return text;
  };
  await load(port, 1, next, ({ status, body }) => {
    answer = { status, body: JSON.parse(body()) };
  });
  return answer;
}
