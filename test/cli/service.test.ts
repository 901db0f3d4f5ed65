/** `--service` and TENON_SERVICE: a service by its name. Nothing here leaves this machine: what would is caught by a proxy. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { SERVICES, serviceAt, serviceCalled } from "../../src/index.ts";
import { here } from "./here.ts";
import { emulator, envOf, folder, PROJECT, run } from "./run.ts";

const TOKEN = "not-a-token-anyone-has";
const LINODE = "https://api.linode.com/v4";
/** 30 seconds are kept by the services of other words; the specification's own service makes 300 of them. */
const SHORT = "domains: [{ domain: a.example, type: master, soa_email: a@b.example, ttl_sec: 30 }]\n";

/** A proxy that lets nothing through, and keeps what it was asked for. */
async function closedProxy() {
  const asked: string[] = [];
  const server = createServer();
  server.on("connect", ({ url = "" }, socket) => {
    asked.push(url);
    socket.end("HTTP/1.1 503 Service Unavailable\r\n\r\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { asked, env: { HTTPS_PROXY: `http://127.0.0.1:${(server.address() as AddressInfo).port}` } };
}

async function planned(args: readonly string[], env: Readonly<Record<string, string>>) {
  const cwd = await folder({ "tenon.yaml": PROJECT });
  return here(["plan", "--retry-for", "0s", ...args], { cwd, env });
}

describe("the process", () => {
  it("connects to the service's public address with the token of its other tools", async () => {
    const proxy = await closedProxy();
    const cwd = await folder({ "tenon.yaml": PROJECT });
    const env = { ...proxy.env, LINODE_TOKEN: TOKEN };
    const { code, stdout, stderr } = await run(["plan", "--service", "linode", "--retry-for", "0s"], { cwd, env });
    expect(new Set(proxy.asked)).toEqual(new Set(["api.linode.com:443"]));
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("error: cannot read ");
    expect(stderr).not.toContain(TOKEN);
  });

  it("lists the known services in its help, and where one that is not known is named", async () => {
    const help = (await run(["plan", "--help"])).stdout.replace(/\n +/g, " ");
    for (const { name, tokenVariable } of SERVICES) {
      expect(help).toContain(`a known service, by name: ${name} (env: TENON_SERVICE)`);
      expect((await run(["--help"])).stdout).toContain(tokenVariable);
    }
    const flag = await run(["plan", "--service", "lindoe"]);
    expect(flag.code).toBe(1);
    expect(flag.stderr).toContain("error: unknown service 'lindoe'. Known services: linode.");
    const variable = await run(["validate", "--format", "json"], { env: { TENON_SERVICE: "x" } });
    expect(variable.code).toBe(1);
    expect(JSON.parse(variable.stdout).diagnostics).toMatchObject([
      { code: "invalid-argument", summary: "unknown service 'x'. Known services: linode." },
    ]);
  });
});

describe("the token", () => {
  it.each([
    ["is missing", {}, "Set TENON_TOKEN or LINODE_TOKEN, or name a file"],
    ["is none", { LINODE_TOKEN: "a b" }, "Set LINODE_TOKEN to the token and nothing else."],
    ["is TENON_TOKEN where both are set", { LINODE_TOKEN: TOKEN, TENON_TOKEN: "a b" }, "Set TENON_TOKEN to the token"],
  ])("of a service %s", async (_, env, words) => {
    const { code, stderr } = await planned([], { TENON_SERVICE: "linode", ...env });
    expect(code).toBe(1);
    expect(stderr.replace(/\n +/g, " ")).toContain(words);
  });

  it.each([
    ["a service that is not named", LINODE, {}],
    ["another host", "http://127.0.0.1:9/v4", {}],
    ["another host, which a flag names", LINODE, { args: ["--base-url", "http://127.0.0.1:9/v4"], service: "linode" }],
  ])(
    "of its other tools is not for %s",
    async (_, baseUrl, { args = [], service = "" }: { args?: string[]; service?: string }) => {
      const env = { TENON_SERVICE: service, TENON_BASE_URL: baseUrl, LINODE_TOKEN: TOKEN };
      const { code, stderr } = await planned(args, env);
      expect(code).toBe(1);
      expect(stderr).toContain("error[token-missing]");
      expect(stderr.replace(/\n +/g, " ")).toContain("Set TENON_TOKEN, or name a file");
    },
  );
});

describe("a name beside an address", () => {
  it("gives way to a flag", async () => {
    const service = await emulator();
    const { TENON_BASE_URL, ...env } = envOf(service);
    const { code } = await planned(["--base-url", TENON_BASE_URL ?? ""], { ...env, TENON_SERVICE: "linode" });
    expect(code).toBe(0);
    expect(service.requests.length).toBeGreaterThan(0);
  });

  it("beats the environment where it is a flag", async () => {
    const [service, proxy] = [await emulator(), await closedProxy()];
    await planned(["--service", "linode"], { ...envOf(service), ...proxy.env });
    expect(new Set(proxy.asked)).toEqual(new Set(["api.linode.com:443"]));
    expect(service.requests).toEqual([]);
  });

  it("is an error where both were given alike", async () => {
    const service = await emulator();
    const both = { ...envOf(service), TENON_SERVICE: "linode" };
    const words = "conflict: the address is not of api.linode.com";
    expect((await planned([], both)).stderr).toContain(`error: TENON_SERVICE and TENON_BASE_URL ${words}`);
    const flags = await planned(["--service", "linode", "--base-url", service.baseUrl], { TENON_TOKEN: TOKEN });
    expect(flags.code).toBe(1);
    expect(flags.stderr).toContain(`error: --service and --base-url ${words}`);
    expect(service.requests).toEqual([]);
  });

  it("may say another version of the same service", async () => {
    const proxy = await closedProxy();
    const args = ["--service", "linode", "--base-url", "https://api.linode.com/v4beta"];
    const { stderr } = await planned(args, { ...proxy.env, LINODE_TOKEN: TOKEN });
    expect(stderr).not.toContain("conflict");
    expect(new Set(proxy.asked)).toEqual(new Set(["api.linode.com:443"]));
  });

  it("has no place beside a snapshot", async () => {
    const { code, stderr } = await planned(["--live", "live.json", "--service", "linode"], {});
    expect(code).toBe(1);
    expect(stderr).toContain("error: --live and --service, --retry-for conflict");
  });
});

describe("the dialect", () => {
  it.each([
    ["of a service", ["--service", "linode"], {}, 30],
    ["of the host of a base URL", [], { TENON_BASE_URL: LINODE }, 30],
    ["that is stated, before that of a service", ["--service", "linode", "--dialect", "node"], {}, 300],
    ["of nothing", [], { TENON_BASE_URL: "https://api.example.com/v4", TENON_SERVICE: "", TENON_DIALECT: "" }, 300],
  ])("%s decides what commands without a connection make of seconds", async (_, args, env, seconds) => {
    const cwd = await folder({ "tenon.yaml": `tenon: 1\n${SHORT}` });
    const { stdout } = await here(["show", "--expanded", ...args], { cwd, env });
    expect(stdout).toMatch(new RegExp(`ttl_sec: ${seconds}$`, "m"));
    const { stderr } = await here(["validate", ...args], { cwd, env });
    expect(stderr.includes("rounded")).toBe(seconds === 300);
  });
});

it("is known by its name and by its host, whatever path is behind it", () => {
  expect(serviceCalled("linode")?.baseUrl).toBe(LINODE);
  expect(serviceCalled("Linode")).toBeNull();
  for (const url of [LINODE, "https://API.linode.com/v4/", "https://api.linode.com:443/v4beta"])
    expect(serviceAt(url)?.name).toBe("linode");
  for (const url of ["", "linode", "https://api.linode.com.evil.example/v4", "https://api.linode.com:8443/v4"])
    expect(serviceAt(url)).toBeNull();
});
