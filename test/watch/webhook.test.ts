import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { checkWebhookUrl, openWebhook } from "../../src/watch/index.ts";

async function receiver(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/services/T0/secret?x=1`;
}

async function webhook(url: string) {
  const opened = await openWebhook(url, {});
  onTestFinished(() => opened.close());
  return opened;
}

test("a message is posted as it is, and follows no redirect", async () => {
  const got: unknown[] = [];
  const url = await receiver(async (request, response) => {
    const body = await request.setEncoding("utf8").toArray();
    got.push([
      request.method,
      request.url,
      request.headers["content-type"],
      request.headers.authorization,
      body.join(""),
    ]);
    if (got.length === 1) response.end("ok");
    else response.writeHead(302, { location: url }).end();
  });
  const { post } = await webhook(url);
  const { signal } = new AbortController();
  expect(await post('{"text":"ä"}', signal)).toBeNull();
  expect(await post("{}", signal)).toBe("it answered with status 302");
  const to = ["POST", "/services/T0/secret?x=1", "application/json", undefined];
  expect(got).toEqual([
    [...to, '{"text":"ä"}'],
    [...to, "{}"],
  ]);
});

test("a webhook that hangs is given up after a while, or when the watch ends, and what it says is not repeated", async () => {
  const url = await receiver((request) => request.resume());
  const { post } = await webhook(url);
  const end = new AbortController();
  setTimeout(() => end.abort(), 50);
  expect(await post("{}", end.signal)).toBe("no answer (ABORTED)");
  const hurried = await openWebhook(url, {}, 50);
  onTestFinished(() => hurried.close());
  expect(await hurried.post("{}", new AbortController().signal)).toBe("no answer (TOTAL_TIMEOUT)");
  const { post: nowhere } = await webhook("http://127.0.0.1:1/secret");
  expect(await nowhere("{}", new AbortController().signal)).toBe("no answer (ECONNREFUSED)");
});

test("an address that is no https URL, or holds a password, is refused without its path", () => {
  const refused = (text: string): string => {
    const checked = checkWebhookUrl(text);
    return checked.ok ? checked.url : checked.diagnostic.summary;
  };
  const summary = "the address of the webhook cannot be used: ";
  expect(refused("hooks.example.com/T0/secret")).toBe(`${summary}it is not a URL`);
  expect(refused("https://hooks.example.com/T0\n/secret")).toBe(`${summary}it is not a URL`);
  expect(refused("http://hooks.example.com/T0/secret")).toBe(`${summary}it is not https: http://hooks.example.com`);
  expect(refused("https://me:secret@hooks.example.com/")).toBe(`${summary}it holds a user or a password`);
  expect(refused("file:///etc/passwd")).toBe(`${summary}it is not a URL`);
  expect(refused("https://hooks.example.com/T0/secret")).toBe("https://hooks.example.com/T0/secret");
});
