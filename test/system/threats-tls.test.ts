/** Certificates and versions of TLS that a service must not be trusted with. Needs openssl. */

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { createServer } from "node:https";
import { type AddressInfo, connect, createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSecureContext, TLSSocket, type TlsOptions } from "node:tls";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { MODULE, run } from "../api/module.ts";
import { run as runCommand } from "../cli/run.ts";
import { fleetOf } from "../support/fleet.ts";

const folder = mkdtempSync(join(tmpdir(), "tenon-threats-tls-"));
const authority = join(folder, "authority.pem");
afterAll(() => rmSync(folder, { recursive: true }));

function openssl(...args: readonly string[]): void {
  execFileSync("openssl", args, { cwd: folder, stdio: "ignore" });
}

const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

beforeAll(() => {
  openssl(
    "req",
    "-x509",
    ...NEW_KEY,
    "-days",
    "2",
    "-keyout",
    "authority.key",
    "-out",
    "authority.pem",
    "-subj",
    "/CN=authority",
  );
  writeFileSync(
    join(folder, "ca.conf"),
    `[ca]\ndefault_ca = it\n[it]\ndatabase = index\nnew_certs_dir = .\nserial = serial\ndefault_md = sha256\npolicy = any\ncopy_extensions = copy\n[any]\ncommonName = supplied\n`,
  );
  writeFileSync(join(folder, "index"), "");
  writeFileSync(join(folder, "serial"), "01\n");
});

/** Signed by the authority, from `start` to `end` as openssl writes times. */
function certificate(names: string, start: string, end: string): TlsOptions {
  const name = `cert-${names}-${end}`.replaceAll(/[^a-z0-9]/gi, "-");
  if (!existsSync(join(folder, `${name}.pem`))) {
    openssl(
      "req",
      "-new",
      ...NEW_KEY,
      "-keyout",
      `${name}.key`,
      "-out",
      `${name}.csr`,
      "-subj",
      `/CN=${name}`,
      "-addext",
      `subjectAltName=${names}`,
    );
    const times = ["-startdate", start, "-enddate", end];
    openssl(
      "ca",
      "-batch",
      "-config",
      "ca.conf",
      "-cert",
      "authority.pem",
      "-keyfile",
      "authority.key",
      "-in",
      `${name}.csr`,
      "-out",
      `${name}.pem`,
      "-notext",
      ...times,
    );
  }
  return { cert: readFileSync(join(folder, `${name}.pem`)), key: readFileSync(join(folder, `${name}.key`)) };
}

const GOOD = (): TlsOptions => certificate("DNS:localhost,IP:127.0.0.1", "20250101000000Z", "20990101000000Z");

/** @returns the port of this machine */
async function listening(tls: TlsOptions, answer: RequestListener): Promise<number> {
  const server = createServer(tls, answer);
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** What a client with the token makes of it, and whatever the server saw of that. */
async function ask(
  tls: TlsOptions,
  environment: Record<string, string> = {},
  isProxied = false,
): Promise<{ said: string; seen: string[] }> {
  const seen: string[] = [];
  const port = await listening(tls, (incoming, response) => {
    seen.push(incoming.headers.authorization ?? "-");
    response.writeHead(200, { "content-type": "application/json" }).end('{"id":1}');
  });
  const proxied = isProxied ? { HTTPS_PROXY: await tunnelTo(port) } : {};
  const baseUrl = isProxied ? "https://api.example.test/v4" : `https://127.0.0.1:${port}/v4`;
  const script = `
    import { createApi } from ${JSON.stringify(MODULE)};
    const api = await createApi(${JSON.stringify({ baseUrl, token: "secret-token", retryForSeconds: 0, environment: proxied })});
    const answer = await api.send({ method: "GET", path: ["domains", "1"] });
    console.log(answer.ok ? "answered" : answer.failure.type + ": " + answer.failure.message);
    await api.close();
  `;
  const said = (await run(script, { NODE_EXTRA_CA_CERTS: authority, ...environment })).trim();
  return { said, seen };
}

/** A proxy that takes everybody to one port of this machine. */
async function tunnelTo(port: number): Promise<string> {
  const proxy = createHttpServer();
  proxy.on("connect", (_incoming, socket) => {
    const upstream = connect(port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on("error", () => socket.destroy());
    socket.on("error", () => upstream.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

test("a certificate that has expired, is for another host or has no trusted issuer gets no token", async () => {
  expect(await ask(GOOD())).toEqual({ said: "answered", seen: ["Bearer secret-token"] });
  const names = "DNS:localhost,IP:127.0.0.1";
  const bad: readonly (readonly [string, TlsOptions])[] = [
    ["CERT_HAS_EXPIRED", certificate(names, "20200101000000Z", "20200102000000Z")],
    ["CERT_NOT_YET_VALID", certificate(names, "20980101000000Z", "20980102000000Z")],
    ["ERR_TLS_CERT_ALTNAME_INVALID", certificate("DNS:other.example", "20250101000000Z", "20990101000000Z")],
  ];
  for (const [code, tls] of bad) {
    const { said, seen } = await ask(tls);
    expect([said, seen]).toEqual([expect.stringContaining(`is not accepted (${code})`), []]);
  }
  const { said, seen } = await ask(GOOD(), { NODE_EXTRA_CA_CERTS: "" });
  expect([said, seen]).toEqual([expect.stringContaining("is not accepted (UNABLE_TO_"), []]);
});

test("no variable of the environment switches the certificate check off: NODE_TLS_REJECT_UNAUTHORIZED", async () => {
  for (const isProxied of [false, true]) {
    const { said, seen } = await ask(GOOD(), { NODE_EXTRA_CA_CERTS: "", NODE_TLS_REJECT_UNAUTHORIZED: "0" }, isProxied);
    expect([isProxied, said, seen]).toEqual([isProxied, expect.stringContaining("is not accepted (UNABLE_TO_"), []]);
  }
});

test("a service that speaks TLS 1.0 or 1.1 only gets no token, whatever NODE_OPTIONS allow", async () => {
  for (const version of ["TLSv1", "TLSv1.1"] as const) {
    const old: TlsOptions = { ...GOOD(), minVersion: version, maxVersion: version, ciphers: "DEFAULT@SECLEVEL=0" };
    const lowered = { NODE_OPTIONS: "--tls-min-v1.0 --tls-cipher-list=DEFAULT@SECLEVEL=0" };
    for (const environment of [{}, lowered]) {
      const { said, seen } = await ask(old, environment);
      expect([version, said, seen]).toEqual([version, expect.stringMatching(/^unreachable: no TLS connection/), []]);
    }
  }
});

/** A server of TLS, to which a client of PostgreSQL asks its way first. @returns its port, and what it could read */
async function reading(
  tls: TlsOptions,
  isPostgres: boolean,
): Promise<{ readonly port: number; readonly seen: string[] }> {
  const seen: string[] = [];
  const server = createTcpServer((plain) => {
    const serve = (): void => {
      const socket = new TLSSocket(plain, { isServer: true, secureContext: createSecureContext(tls) });
      socket.on("error", () => plain.destroy());
      socket.on("data", (data) => {
        seen.push(data.toString("latin1"));
        // AuthenticationCleartextPassword, or an error of Redis.
        socket.write(isPostgres ? Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]) : "-ERR no\r\n");
      });
    };
    plain.on("error", () => {});
    if (isPostgres) plain.once("data", () => plain.write("S", serve));
    else serve();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, seen };
}

test("a queue or a collector whose certificate is not trusted, or whose TLS is old, gets no password, whatever the environment says", async () => {
  const fleet = await fleetOf(1);
  const weak = {
    NODE_TLS_REJECT_UNAUTHORIZED: "0",
    NODE_OPTIONS: "--tls-min-v1.0 --tls-cipher-list=DEFAULT@SECLEVEL=0",
  };
  const old: TlsOptions = { ...GOOD(), minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" };
  for (const [tls, trust] of [
    [GOOD(), ""],
    [old, authority],
  ] as const) {
    const env = { ...fleet.env, ...weak, NODE_EXTRA_CA_CERTS: trust };
    for (const [scheme, query, mode] of [
      ["rediss", "", ""],
      ["postgres", "/d?sslmode=verify-full", ""],
      ["postgres", "/d?sslmode=require", ""],
      ["postgres", "/d?uselibpqcompat=true&sslmode=require", ""],
      ["postgres", "/d?ssl=true", "disable"],
      ["postgres", "/d?ssl=require", ""],
      ["postgres", "/d", "require"],
    ] as const) {
      const { port, seen } = await reading(tls, scheme === "postgres");
      const queue = `${scheme}://u:THE-PASSWORD@127.0.0.1:${port}${query}`;
      const own = { cwd: fleet.cwd, env: { ...env, PGSSLMODE: mode } };
      const { code, stderr } = await runCommand(["fleet", "plan", "--queue", queue], own);
      expect([queue, code, seen]).toEqual([queue, 1, []]);
      expect(stderr).not.toContain("THE-PASSWORD");
    }
    const { port, seen } = await reading(tls, false);
    const collector = {
      OTEL_EXPORTER_OTLP_ENDPOINT: `https://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20THE-PASSWORD",
    };
    const { code } = await runCommand(["fleet", "plan"], { cwd: fleet.cwd, env: { ...env, ...collector } });
    expect([code, seen]).toEqual([0, []]);
  }
  // One that is trusted is spoken to, and one of which nobody shall look at the certificate.
  for (const [scheme, query, trust] of [
    ["rediss", "", authority],
    ["postgres", "/d?sslmode=verify-full", authority],
    ["postgres", "/d?sslmode=no-verify", ""],
    ["postgres", "/d?ssl=no-verify", ""],
  ] as const) {
    const { port, seen } = await reading(GOOD(), scheme === "postgres");
    const env = { ...fleet.env, NODE_EXTRA_CA_CERTS: trust };
    const queue = `${scheme}://u:THE-PASSWORD@127.0.0.1:${port}${query}`;
    await runCommand(["fleet", "plan", "--queue", queue], { cwd: fleet.cwd, env });
    expect([queue, seen.join("")]).toEqual([queue, expect.stringContaining("THE-PASSWORD")]);
  }
});

test("only a connection with the service's own certificate shows that the service is in a private network", async () => {
  const connected = async (tls: TlsOptions, isProxied = false): Promise<string> => {
    const port = await listening(tls, (_, response) => response.end("{}"));
    const environment = isProxied ? { HTTPS_PROXY: await tunnelTo(port) } : {};
    const origin = isProxied ? "https://api.example.test" : `https://127.0.0.1:${port}`;
    const script = `
      import { DEFAULT_TIMEOUTS, openTransport } from ${JSON.stringify(MODULE.replace("index.js", "undici.js"))};
      const found = [];
      const transport = await openTransport({
        timeouts: DEFAULT_TIMEOUTS,
        environment: ${JSON.stringify(environment)},
        reach: () => null,
        connected: (address) => found.push(address),
      });
      const call = { method: "GET", origin: ${JSON.stringify(origin)}, path: "/", headers: {}, content: { type: "json" } };
      const { type, status } = await transport.exchange(call);
      console.log(type, status, ...found);
      await transport.close();
    `;
    return (await run(script, { NODE_EXTRA_CA_CERTS: authority })).trim();
  };
  const other = certificate("DNS:other.example", "20250101000000Z", "20990101000000Z");
  const named = certificate("DNS:api.example.test", "20250101000000Z", "20990101000000Z");
  expect(await connected(GOOD())).toMatch(/200 127\.0\.0\.1$/);
  expect(await connected(other)).toMatch(/^lost null$/);
  // The proxy's address says nothing of the service.
  expect(await connected(named, true)).toMatch(/200$/);
});
