/** Uploads of files that only Linux has. */

import { createServer } from "node:http";
import { expect, test } from "vitest";
import { failureOf, open } from "../api/scripted.ts";

test("an upload of a file whose reading fails names that, closes the connection, and is not tried again", async () => {
  // The kernel refuses to read the speed of the loopback interface, though it is a file of 4096 bytes.
  const unreadable = "/sys/class/net/lo/speed";
  const seen = { requests: 0, whole: 0 };
  const closed: Promise<void>[] = [];
  const server = createServer((incoming, response) => {
    seen.requests += 1;
    incoming.on("error", () => {});
    incoming.on("end", () => {
      seen.whole += 1;
      response.writeHead(200).end();
    });
    incoming.resume();
  }).on("connection", (socket) => {
    closed.push(new Promise((resolve) => socket.on("close", () => resolve())));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const { api } = await open(`http://127.0.0.1:${port}/v4`, { retryForSeconds: 60 });
  const failure = failureOf(await api.upload({ url: `http://127.0.0.1:${port}/x`, file: unreadable }));
  await Promise.all(closed);
  server.close();
  expect(failure).toMatchObject({
    type: "refused",
    status: null,
    attempts: 1,
    message: "the file cannot be read (EINVAL)",
  });
  expect(seen.requests).toBeLessThanOrEqual(1);
  expect(seen.whole).toBe(0);
});
