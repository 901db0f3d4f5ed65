/** TLS as Node's environment makes it: a private authority, proxies. Needs openssl, for a certificate. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MODULE, run } from "../api/module.ts";

describe("through a proxy, to a service with a certificate of a private authority", () => {
  const folder = mkdtempSync(join(tmpdir(), "tenon-tls-"));
  const certificate = join(folder, "cert.pem");
  const key = join(folder, "key.pem");
  const connects: string[] = [];
  let authorization: (string | undefined)[] = [];
  const proxy = createHttpServer();
  let service: ReturnType<typeof createTlsServer>;

  beforeAll(async () => {
    const names = "subjectAltName=DNS:api.example.test,DNS:localhost,IP:127.0.0.1";
    const request = [
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-days",
      "2",
    ];
    const files = ["-keyout", key, "-out", certificate, "-subj", "/CN=api.example.test", "-addext", names];
    execFileSync("openssl", [...request, ...files], { stdio: "ignore" });
    service = createTlsServer({ cert: readFileSync(certificate), key: readFileSync(key) }, (incoming, response) => {
      authorization.push(incoming.headers.authorization);
      response.writeHead(200, { "content-type": "application/json" }).end('{"id":1}');
    });
    await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
    proxy.on("connect", (incoming, socket) => {
      connects.push(
        `${incoming.url} ${incoming.headers.authorization ?? "-"} ${incoming.headers["proxy-authorization"] ?? "-"}`,
      );
      if (incoming.url?.startsWith("forbidden")) return socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
      const upstream = connect((service.address() as AddressInfo).port, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
        upstream.pipe(socket).pipe(upstream);
      });
      upstream.on("error", () => socket.destroy());
      socket.on("error", () => upstream.destroy());
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  });

  afterAll(() => {
    service.closeAllConnections();
    service.close();
    proxy.closeAllConnections();
    proxy.close();
    rmSync(folder, { recursive: true });
  });

  const proxyUrl = (): string => `127.0.0.1:${(proxy.address() as AddressInfo).port}`;

  async function get(
    base: string,
    environment: Record<string, string>,
    extra: Record<string, string>,
  ): Promise<string> {
    const options = { baseUrl: base, token: "secret-token", retryForSeconds: 0, environment };
    const script = `
      import { createApi } from ${JSON.stringify(MODULE)};
      const api = await createApi(${JSON.stringify(options)});
      const answer = await api.send({ method: "GET", path: ["domains", "1"] });
      console.log(answer.ok ? JSON.stringify(answer.body) : answer.failure.type + ": " + answer.failure.message);
      await api.close();
    `;
    return (await run(script, extra)).trim();
  }

  it("works with HTTPS_PROXY and NODE_EXTRA_CA_CERTS, and tells the proxy no token", async () => {
    authorization = [];
    const environment = { HTTPS_PROXY: `http://user:pass@${proxyUrl()}` };
    const body = await get("https://api.example.test/v4", environment, { NODE_EXTRA_CA_CERTS: certificate });
    expect(body).toBe('{"id":1}');
    expect(authorization).toEqual(["Bearer secret-token"]);
    expect(connects).toEqual([`api.example.test:443 - Basic ${Buffer.from("user:pass").toString("base64")}`]);
  });

  it("takes a proxy from nowhere but what it is handed", async () => {
    const { port } = service.address() as AddressInfo;
    connects.length = 0;
    const extra = {
      NODE_EXTRA_CA_CERTS: certificate,
      HTTPS_PROXY: `http://${proxyUrl()}`,
      ALL_PROXY: `http://${proxyUrl()}`,
    };
    expect(await get(`https://localhost:${port}/v4`, {}, extra)).toBe('{"id":1}');
    expect(await get("https://api.example.test/v4", {}, extra)).toContain("cannot be resolved");
    expect(connects).toEqual([]);
  });

  it("goes around the proxy to this machine, and where NO_PROXY says so", async () => {
    const { port } = service.address() as AddressInfo;
    connects.length = 0;
    const environment = { https_proxy: proxyUrl(), NO_PROXY: "other.test,.example.test" };
    expect(await get(`https://127.0.0.1:${port}/v4`, environment, { NODE_EXTRA_CA_CERTS: certificate })).toBe(
      '{"id":1}',
    );
    expect(await get("https://api.example.test/v4", environment, {})).toContain("cannot be resolved");
    expect(connects).toEqual([]);
  });

  it("without the authority fails at once, saying what to do", async () => {
    const { port } = service.address() as AddressInfo;
    const words = await get(`https://127.0.0.1:${port}/v4`, {}, {});
    expect(words).toContain("unreachable: the certificate of 127.0.0.1:");
    expect(words).toContain("NODE_EXTRA_CA_CERTS");
  });

  it("that refuses, or is none, is named", async () => {
    expect(await get("https://forbidden.test/v4", { HTTPS_PROXY: proxyUrl() }, {})).toBe(
      "unreachable: the proxy does not connect to forbidden.test: Proxy response (403) !== 200 when HTTP Tunneling",
    );
    for (const HTTPS_PROXY of [
      "socks4://user:hidden@x",
      "user:hidden@x\\n",
      "x/hidden",
      "x?hidden",
      "%:%ff@x",
      "u%4:1hidden@x",
    ]) {
      const words = await get("https://api.example.test/v4", { HTTPS_PROXY }, {});
      expect(words).toBe("unreachable: HTTPS_PROXY is not the URL of an http or https proxy");
    }
  });
});
