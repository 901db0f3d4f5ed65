import { writeFile } from "node:fs/promises";
import { hostname, networkInterfaces } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { createApi } from "../../src/index.ts";
import { here as run } from "../cli/here.ts";
import { failing, oddService } from "../cli/odd-service.ts";
import { emulator, envOf, expectPlain, folder, PROJECT } from "../cli/run.ts";
import { refuse, trap } from "./hostile.ts";

const IMAGE = "tenon: 1\nimages:\n  - { label: golden, upload: { file: golden.img.gz, region: us-east } }\n";

/** To networks that are not there. */
const SHORT = { connect: 300 };

test("a base URL in a manifest is an unknown key", async () => {
  const words = ["unknown key `base_url`", "unknown key `token`"];
  await refuse(await folder({ "tenon.yaml": `${PROJECT}base_url: https://evil.example/v4\ntoken: x\n` }), words);
});

test("an address in a file beside the manifest has no effect: .env, .npmrc, settings of tenon", async () => {
  const evil = await trap();
  const url = `http://127.0.0.1:${evil.port}`;
  const lines = `TENON_BASE_URL=${url}/v4\nHTTPS_PROXY=${url}\nHTTP_PROXY=${url}\nNODE_OPTIONS=--require=./evil.cjs\n`;
  const json = JSON.stringify({ baseUrl: `${url}/v4`, base_url: `${url}/v4`, tenon: { baseUrl: `${url}/v4` } });
  const cwd = await folder({
    "tenon.yaml": PROJECT,
    ".env": lines,
    "tenon.config.json": json,
    "package.json": json,
    ".tenonrc": lines,
    ".tenon/config.yaml": `base_url: ${url}/v4\n`,
    ".npmrc": `proxy=${url}\nhttps-proxy=${url}\n`,
    "evil.cjs": `require("node:http").get("${url}/from-a-module");\n`,
    "tenon.config.js": `require("node:http").get("${url}/from-a-module");\n`,
  });
  const service = await emulator();
  expect((await run(["plan"], { cwd, env: envOf(service) })).code).toBe(0);
  expect(service.requests.length).toBeGreaterThan(0);
  expect(evil.caught).toEqual([]);
});

test("a proxy is taken from the environment only, and sees no token", async () => {
  const evil = await trap();
  const cwd = await folder({ "tenon.yaml": PROJECT, ".npmrc": `https-proxy=http://127.0.0.1:${evil.port}\n` });
  const env = { TENON_BASE_URL: "https://tenon.invalid/v4", TENON_TOKEN: "the-token" };
  const args = ["plan", "--retry-for", "0s"];
  expect((await run(args, { cwd, env })).code).toBe(1);
  expect(evil.caught).toEqual([]);
  const proxied = { ...env, HTTPS_PROXY: `http://127.0.0.1:${evil.port}` };
  expect((await run(args, { cwd, env: proxied })).code).toBe(1);
  expect(evil.caught.map(({ request }) => request)).toContain("CONNECT tenon.invalid:443");
  expect(JSON.stringify(evil.caught)).not.toContain("the-token");
});

test("a redirect of the service is not followed, so that no other host gets the token", async () => {
  const evil = await trap();
  const location = `http://127.0.0.1:${evil.port}/v4/domains`;
  const service = await oddService((incoming, response) => {
    const status = Number(new URL(incoming.url ?? "", "http://x").pathname.split("/").at(-1)) || 307;
    response.writeHead(status, { location }).end();
  });
  const api = await createApi({ baseUrl: service.baseUrl, token: "the-token", retryForSeconds: 0 });
  for (const status of [301, 302, 303, 307, 308]) {
    for (const method of ["GET", "POST"] as const) {
      expect(await api.send({ method, path: ["domains", String(status)] })).toMatchObject({ ok: false });
    }
  }
  await api.close();
  const result = await run(["plan"], { cwd: await folder({ "tenon.yaml": PROJECT }), env: envOf(service) });
  expectPlain(result, 1, ["redirects are not followed"]);
  expect(evil.caught).toEqual([]);
});

test("an upload goes to the address of the service without the token, and follows no redirect", async () => {
  const evil = await trap();
  const storage = await oddService((incoming, response) => {
    expect(incoming.headers.authorization).toBeUndefined();
    expect(JSON.stringify(incoming.rawHeaders)).not.toContain("emulator-token");
    incoming.resume();
    response.writeHead(307, { location: `http://127.0.0.1:${evil.port}/` }).end();
  });
  const service = await uploadingTo(storage.baseUrl);
  const cwd = await folder({ "tenon.yaml": IMAGE });
  await writeFile(join(cwd, "golden.img.gz"), gzipSync("disk"));
  const { code, stdout } = await run(["apply", "--yes", "--retry-for", "0s"], { cwd, env: envOf(service) });
  expect(code).toBe(6);
  expect(stdout).toContain("was answered with 307");
  expect(storage.requests).toEqual([expect.stringMatching(/^PUT /)]);
  expect(evil.caught).toEqual([]);
});

test("an upload goes over https, and never to this machine unless the service is here too", async () => {
  const evil = await trap();
  const file = join(await folder({ "golden.img.gz": "x" }), "golden.img.gz");
  const far = await createApi({ baseUrl: "https://api.example.com/v4", token: "the-token", retryForSeconds: 0 });
  const hosts = ["127.0.0.1", "127.1", "[::1]", "0.0.0.0", "0", "[::]", "[::ffff:127.0.0.1]", "[::ffff:0.0.0.0]"];
  const urls = [...hosts.map((host) => `https://${host}:${evil.port}/`), `http://localhost:${evil.port}/`];
  for (const url of [...urls, "http://storage.example.com/", "file:///etc/hostname", "ftp://storage.example.com/"]) {
    const answer = await far.upload({ url, file });
    expect(answer.ok ? null : answer.failure.message, url).toMatch(/the service gave an address for the upload that/);
  }
  await far.close();
  expect(evil.caught).toEqual([]);
});

test("an upload goes to this machine by none of its names, and to no private network that the service is not in", async () => {
  const file = join(await folder({ "golden.img.gz": "x" }), "golden.img.gz");
  const refused = async (service: string, hosts: readonly string[]): Promise<string[]> => {
    const api = await createApi({ baseUrl: `${service}/v4`, token: "the-token", retryForSeconds: 0, timeouts: SHORT });
    const found: string[] = [];
    for (const host of hosts) {
      // Port 1 is nobody's: what is not refused finds no connection.
      const answer = await api.upload({ url: `https://${host}:1/`, file });
      if (!answer.ok && answer.failure.message.startsWith("the service gave an address for the upload"))
        found.push(host);
    }
    await api.close();
    return found;
  };
  const own = [
    "localhost.",
    "x.localhost",
    hostname(),
    `${hostname()}.`,
    "[::7f00:1]",
    "[::ffff:7f00:1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
  ];
  const interfaces = Object.values(networkInterfaces()).flatMap((all) => all?.filter(({ scopeid }) => !scopeid) ?? []);
  own.push(...interfaces.map(({ address }) => (address.includes(":") ? `[${address}]` : address)));
  const networks = [
    "169.254.169.254",
    "10.1.2.3",
    "172.31.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "[fd00::1]",
    "[fe80::1]",
    "[64:ff9b:1:7f00:0:100::]",
    "[64:ff9b:1::cb00:7107]",
    "[::ffff:a01:203]",
    "0.1.2.3",
    "168.63.129.16",
    "[::ffff:168.63.129.16]",
  ];
  const all = [...own, ...networks];
  expect(await refused("https://203.0.113.7", all)).toEqual(all);
  // The service's own network is another matter, and that alone.
  expect(await refused("https://10.9.9.9", networks)).toEqual(networks.filter((host) => !/10\.1|a01/.test(host)));
  expect(await refused("http://127.0.0.1:1", all)).toEqual(networks.filter((host) => host !== "0.1.2.3"));
});

test("an id that the service chooses leads to no other path of it", async () => {
  const behind = await emulator();
  const ids = ["../../account", "%2e%2e/x", "1?x=", "..", "", "1/../../token"];
  for (const id of ids) {
    const api = await createApi({ baseUrl: behind.baseUrl, token: "emulator-token", retryForSeconds: 0 });
    await api.send({ method: "DELETE", path: ["domains", id] });
    await api.close();
  }
  expect(behind.requests).toEqual([]);
});

/** An emulator whose uploads go somewhere else. */
async function uploadingTo(storage: string): Promise<{ readonly baseUrl: string }> {
  const behind = await emulator();
  return failing(behind, (request) => {
    if (request !== "POST /v4/images/upload") return null;
    const image = { id: "private/1", label: "golden", description: "", status: "pending_upload", type: "manual" };
    const body = { upload_to: `${storage}/put?signature=abc`, image: { ...image, region: "us-east", tags: [] } };
    return { status: 200, body: JSON.stringify(body) };
  });
}

test("a token of the service's other tools goes to no other host, and to the service itself only if it was named", async () => {
  const evil = await trap();
  const cwd = await folder({ "tenon.yaml": PROJECT });
  const elsewhere = `http://127.0.0.1:${evil.port}/v4`;
  const named = { LINODE_TOKEN: "the-token-of-others", TENON_SERVICE: "linode" };
  const attempts: readonly [readonly string[], Readonly<Record<string, string>>][] = [
    [["--base-url", elsewhere], named],
    [[], { ...named, TENON_SERVICE: "", TENON_BASE_URL: elsewhere }],
    [[], { ...named, TENON_BASE_URL: elsewhere }],
    [["--service", "linode", "--base-url", elsewhere], named],
    [["--base-url", "https://api.linode.com.127.0.0.1.example/v4"], named],
    [[], { ...named, TENON_SERVICE: "", TENON_BASE_URL: "https://api.linode.com/v4" }],
  ];
  for (const [args, env] of attempts) {
    const { code, stderr } = await run(["plan", "--retry-for", "0s", ...args], { cwd, env });
    expect([args, code]).toEqual([args, 1]);
    expect(stderr).toMatch(/error\[token-missing\]|conflict: the address is not of api\.linode\.com/);
  }
  expect(evil.caught).toEqual([]);
});
