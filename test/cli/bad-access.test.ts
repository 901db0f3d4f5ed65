import { describe, expect, it } from "vitest";
import type { EmulatorOptions } from "../../src/emulator/index.ts";
import { here as run } from "./here.ts";
import { emulator, envOf, expectPlain, folder, PROJECT } from "./run.ts";

type Words = readonly (string | RegExp)[];

/** Applies, and sees to it that nothing was written. */
async function refuse(
  code: number,
  words: Words,
  { manifest = PROJECT, seed, env = {}, args = [] }: Partial<Situation> = {},
): Promise<string> {
  const service = await emulator(seed === undefined ? {} : { seed });
  const cwd = await folder({ "tenon.yaml": manifest });
  const result = await run(["apply", "--yes", ...args], { cwd, env: { ...envOf(service), ...env } });
  expectPlain(result, code, words);
  expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  return result.stderr;
}

interface Situation {
  readonly manifest: string;
  readonly seed: NonNullable<EmulatorOptions["seed"]>;
  readonly env: Readonly<Record<string, string>>;
  readonly args: readonly string[];
}

function scoped(...scopes: readonly string[]): NonNullable<EmulatorOptions["seed"]> {
  return { tokens: [{ token: "emulator-token", scopes }] };
}

describe("a token", () => {
  it("that is wrong is refused in the service's words, and never shown", async () => {
    const secret = "a-secret-nobody-should-read";
    const words = ["the service did not accept the token (401): Invalid Token", "TENON_TOKEN or --token-file"];
    expect(await refuse(1, words, { env: { TENON_TOKEN: secret } })).not.toContain(secret);
  });

  it.each<[string, readonly string[], string, string]>([
    [
      "domains",
      ["vpc:read_write", "images:read_write"],
      "cannot read the list of domains: ",
      "; this needs the scope domains:read_only",
    ],
    ["VPCs", ["domains:read_write", "images:read_write"], "cannot read the list of VPCs: ", ""],
    [
      "images",
      ["domains:read_write", "vpc:read_write"],
      "cannot read the list of images: ",
      "; this needs the scope images:read_only",
    ],
  ])("without the scope for %s says which list it cannot read, and what it lacks", async (_, scopes, words, lack) => {
    await refuse(1, [words, `(403): Unauthorized${lack}`, "The token lacks a scope or a grant for this."], {
      seed: scoped(...scopes),
    });
  });

  it("that may only read plans, and says at each change that it may not apply it", async () => {
    const service = await emulator({ seed: scoped("domains:read_only", "vpc:read_only", "images:read_only") });
    const options = { cwd: await folder({ "tenon.yaml": PROJECT }), env: envOf(service) };
    expect((await run(["plan", "--detailed-exitcode"], options)).code).toBe(2);
    const { code, stdout, stderr } = await run(["apply", "--yes"], options);
    expect(code).toBe(6);
    expect(stdout.replace(/\s+/g, " ")).toContain("the token does not have the right to do this (403): Unauthorized");
    expect(stdout + stderr).not.toMatch(/\n\s+at /);
    expect(service.requests.filter(({ method, status }) => method !== "GET" && status === 200)).toEqual([]);
  });

  it.each([
    ["a line break in it", "two\nlines"],
    ["a character that no header takes", "tøken-\u2603"],
  ])("with %s is an error, and is not shown", async (_, token) => {
    expect(await refuse(1, ["error"], { env: { TENON_TOKEN: token } })).not.toContain(token);
  });
});

describe("a base URL", () => {
  it.each<[string, string, Words]>([
    ["nothing", "", ["error[base-url-missing]", "TENON_BASE_URL"]],
    ["no URL", "api.example.com/v4", ["error[base-url-"]],
    ["plain http", "http://api.example.com/v4", ["error[base-url-insecure]", "https"]],
    ["another protocol", "ftp://api.example.com/v4", ["error[base-url-"]],
    ["a host nobody answers on", "http://127.0.0.1:9/v4", ["127.0.0.1:9 refuses connections", "Check the base URL"]],
    ["a name that there is not", "https://tenon.invalid/v4", ["tenon.invalid", "Check the base URL"]],
  ])("that is %s is explained", async (_, baseUrl, words) => {
    await refuse(1, words, { env: { TENON_BASE_URL: baseUrl }, args: ["--retry-for", "1s"] });
  });

  it("without its version finds nothing, and is said to be the likely cause", async () => {
    const { baseUrl } = await emulator();
    const env = { TENON_BASE_URL: baseUrl.replace(/\/v4$/, "") };
    await refuse(1, ["(404)", "it has to end with the version, for example /v4"], { env });
  });

  it("is not the service of a base URL in a manifest", async () => {
    await refuse(3, ["unknown key `base_url`"], { manifest: `${PROJECT}base_url: https://evil.example/v4\n` });
  });
});

describe("an account", () => {
  it("that is not the project's is refused before anything is read", async () => {
    const manifest = PROJECT.replace("owner: edge", "account: production");
    await refuse(4, ["production", "staging", "TENON_ACCOUNT"], { manifest, env: { TENON_ACCOUNT: "staging" } });
  });

  it.each([
    [
      "VPCs",
      "vpcs: [{ label: dup, region: us-east }]",
      { vpcs: [11, 12].map((id) => ({ id, label: "dup", region: "us-east" })) },
    ],
    [
      "images",
      "images: [{ label: dup, capture: { disk_id: 1 } }]",
      { images: [11, 12].map((id) => ({ id: `private/${id}`, label: "dup" })) },
    ],
  ] as const)("with two %s of the declared label leaves both alone, and lists their ids", async (_, entry, seed) => {
    const service = await emulator({ seed: seed as EmulatorOptions["seed"] & object });
    const options = { cwd: await folder({ "tenon.yaml": `tenon: 1\n${entry}\n` }), env: envOf(service) };
    for (const [args, code] of [
      [["plan"], 0],
      [["apply", "--yes"], 6],
    ] as const) {
      const ended = await run(args, options);
      expect({ args, code: ended.code }).toEqual({ args, code });
      expect(ended.stdout).toContain("2 live objects carry this label");
      expect(ended.stdout).toMatch(/\bid (private\/)?11:[\s\S]*\bid (private\/)?12:/);
    }
    expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  });

  it("whose domain has another owner is refused, naming the owner", async () => {
    const seed = { domains: [{ domain: "example.com", soa_email: "a@example.com", tags: ["tenon:others"] }] };
    await refuse(4, ["others", "--take-ownership-from"], { seed });
  });
});
