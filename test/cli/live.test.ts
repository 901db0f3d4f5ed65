import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { here } from "./here.ts";
import { emulator, envOf, expectPlain, folder, PROJECT, run } from "./run.ts";

const SEED = {
  vpcs: [{ id: 1, label: "prod", region: "us-east", description: "plain" }],
  domains: [{ id: 5, domain: "example.com", soa_email: "hostmaster@example.com" }],
};
/** Neither a token nor an address. */
const NOTHING = { env: {} };

async function world(env: Readonly<Record<string, string>> = {}, real = false) {
  const service = await emulator({ seed: SEED });
  const cwd = await folder({ "tenon.yaml": PROJECT });
  const options = { cwd, env: { ...envOf(service), ...env } };
  const taken = await (real ? run : here)(["live", "--out", "live.json"], options);
  expect(taken).toMatchObject({ code: 0, stdout: "" });
  return { service, cwd, options, taken, text: await readFile(join(cwd, "live.json"), "utf8") };
}

describe("tenon live", () => {
  it("writes the account for its owner's eyes, with GETs only, and says what it took", async () => {
    const { service, cwd, taken, text } = await world({}, true);
    expect((await stat(join(cwd, "live.json"))).mode & 0o777).toBe(0o600);
    expect(new Set(service.requests.map(({ method }) => method))).toEqual(new Set(["GET"]));
    expect(taken.stderr).toBe("2 objects of 4 lists are in live.json; it took 4 requests.\n");
    expect(text).not.toContain("emulator-token");
    expect(JSON.parse(text)).toMatchObject({ host: new URL(service.baseUrl).host, dialect: "node", account: null });
  });

  it("writes the same to stdout", async () => {
    const { options, text } = await world();
    const { code, stdout } = await run(["live", "--out", "-"], options);
    const withoutTime = (file: string) => file.replace(/"(?:read|served)_at":"[^"]+"/g, "");
    expect({ code, text: withoutTime(stdout) }).toEqual({ code: 0, text: withoutTime(text) });
  });

  it("reads nothing for a manifest that is invalid, of another account, or without a place to write to", async () => {
    const service = await emulator();
    const invalid = { cwd: await folder({ "tenon.yaml": "tenon: 1\nvpcs: 7\n" }), env: envOf(service) };
    expectPlain(await here(["live", "--out", "x"], invalid), 3, ["tenon.yaml:2"]);
    const elsewhere = { cwd: await folder({ "tenon.yaml": "tenon: 1\naccount: prod\n" }), env: envOf(service) };
    expectPlain(await here(["live", "--out", "x"], elsewhere), 4, ["prod"]);
    expectPlain(await run(["live"], elsewhere), 1, ["--out"]);
    const valid = { ...elsewhere, cwd: await folder({ "tenon.yaml": "tenon: 1\n" }) };
    for (const [out, words] of [
      [".", "the snapshot cannot be written: . is a folder"],
      ["/nosuch/dir/live.json", "there is no folder /nosuch/dir"],
      ["tenon.yaml/live.json", "there is no folder tenon.yaml"],
    ] as const) {
      expectPlain(await here(["live", "--out", out], valid), 1, [words]);
    }
    expect(service.requests).toEqual([]);
  });

  it("says what it could not read, and why", async () => {
    const tokens = [{ token: "emulator-token", scopes: ["domains:read_only", "vpc:read_only"] }];
    const service = await emulator({ seed: { ...SEED, tokens } });
    const cwd = await folder({ "tenon.yaml": "tenon: 1\n" });
    const { code, stderr } = await here(["live", "--out", "live.json"], { cwd, env: envOf(service) });
    expect(code).toBe(0);
    expect(stderr).toMatch(/^warning: \/images could not be read: .*images:read_only/m);
  });

  it("writes nothing where the account itself holds the token", async () => {
    const vpcs = [{ label: "a", region: "x", description: "never write emulator-token here" }];
    const service = await emulator({ seed: { vpcs } });
    const options = { cwd: await folder({ "tenon.yaml": PROJECT }), env: envOf(service) };
    const ended = await here(["live", "--out", "live.json"], options);
    expectPlain(ended, 1, ["contains the token, so nothing of it is used"]);
    expect(ended.stderr).not.toContain("emulator-token");
    await expect(stat(join(options.cwd, "live.json"))).rejects.toThrow();
  });
});

describe("tenon plan --live", () => {
  it("plans the very same without a token, an address or a request, and says how old the snapshot is", async () => {
    const { service, cwd, options } = await world();
    const live = await here(["plan"], options);
    service.clearRequests();
    const offline = await run(["plan", "--live", "live.json"], { cwd, ...NOTHING });
    expect(service.requests).toEqual([]);
    expect({ code: offline.code, stdout: offline.stdout }).toEqual({ code: 0, stdout: live.stdout });
    expect(offline.stderr).toMatch(/^note: this is the account of 127\.0\.0\.1:\d+ as it was read at .*Z, .* ago\n$/);
    const json = await here(["plan", "--live", "live.json", "--format", "json"], { cwd, ...NOTHING });
    const withoutPace = (text: string) => text.replace(/"pace":.*/, "");
    expect(withoutPace(json.stdout)).toBe(withoutPace((await here(["plan", "--format", "json"], options)).stdout));
  });

  it("goes with no flag that is for a service; what the environment says is for all commands", async () => {
    const { service, cwd, options } = await world();
    service.clearRequests();
    const named = ["--base-url", service.baseUrl, "--token-file", "token.txt"];
    const given = [...named, "--concurrency", "3", "--retry-for", "5s"];
    for (const [command, more, words] of [
      ["plan", given, "--live and --base-url, --token-file, --retry-for, --concurrency conflict"],
      ["drift", ["--retry-for", "5s"], "--live and --retry-for conflict"],
    ] as const) {
      expectPlain(await run([command, "--live", "live.json", ...more], { cwd }), 1, [words]);
    }
    expect((await here(["plan", "--live", "live.json"], options)).code).toBe(0);
    expect(service.requests).toEqual([]);
  });

  it("makes a plan that bounds an apply", async () => {
    const { cwd, options } = await world();
    const planned = await here(["plan", "--live", "live.json", "--out", "the.plan"], { cwd, ...NOTHING });
    expect(planned.code).toBe(0);
    const applied = await here(["apply", "--yes", "--plan", "the.plan"], options);
    expect(applied.code).toBe(0);
    await writeFile(join(cwd, "tenon.yaml"), PROJECT.replace("192.0.2.1", "192.0.2.2"));
    expect((await here(["apply", "--yes", "--plan", "the.plan"], options)).code).toBe(5);
  });

  it("warns of one that is old, and of one from the future", async () => {
    const { cwd, text } = await world();
    const at = (time: string) => text.replace(/"read_at":"[^"]+"/, `"read_at":"${time}"`);
    await writeFile(join(cwd, "old.json"), at("2020-01-01T00:00:00.000Z"));
    const old = await here(["plan", "--live", "old.json"], { cwd, ...NOTHING });
    expect(old.stderr).toMatch(/^warning: .* days ago; it may have changed since\n$/);
    await writeFile(join(cwd, "new.json"), at("2999-01-01T00:00:00.000Z"));
    expect((await here(["plan", "--live", "new.json"], { cwd, ...NOTHING })).stderr).toContain("for the future");
  });

  it("refuses by name a file that is no snapshot, or not this one's", async () => {
    const { cwd, text } = await world({ TENON_ACCOUNT: "prod" });
    const files: [string, string, string][] = [
      ["cut", text.slice(0, -20), "live-file-truncated"],
      ["soup", "soup", "live-file-damaged"],
      ["newer", text.replace('"format_version":2', '"format_version":9'), "live-file-newer"],
      ["other", '{"format_version":"1.2","resource_changes":[]}', "live-file-foreign"],
    ];
    for (const [name, content, code] of files) {
      await writeFile(join(cwd, name), content);
      expectPlain(await here(["plan", "--live", name], { cwd }), 1, [`error[${code}]`]);
      expectPlain(await here(["drift", "--live", name], { cwd }), 1, [`error[${code}]`]);
    }
    const missing = await here(["plan", "--live", "missing"], { cwd });
    expectPlain(missing, 1, ["the snapshot cannot be read: there is no such file: missing"]);
    expectPlain(await here(["plan", "--live", "."], { cwd }), 1, ["is a folder"]);
    const staging = { cwd, env: { TENON_ACCOUNT: "staging" } };
    expectPlain(await here(["plan", "--live", "live.json"], staging), 4, ["of the account prod", "staging"]);
    const word = ["plan", "--live", "live.json", "--dialect", "box"];
    expectPlain(await here(word, { cwd }), 1, ["says node, and not box"]);
  });

  it("knows the account that the project names, and the word and the TTLs of its service", async () => {
    const service = await emulator({ dialect: "box", seed: { vpcs: SEED.vpcs } });
    const zone = "{ domain: a.example, type: master, soa_email: a@b.example, ttl_sec: 30 }";
    const cwd = await folder({ "tenon.yaml": `tenon: 1\naccount: prod\ndomains: [${zone}]\n` });
    const env = { ...envOf(service), TENON_ACCOUNT: "prod", TENON_DIALECT: "box" };
    expect((await here(["live", "--out", "live.json"], { cwd, env })).code).toBe(0);
    const live = await here(["plan"], { cwd, env });
    const offline = await here(["plan", "--live", "live.json"], { cwd, ...NOTHING });
    expect({ code: offline.code, stdout: offline.stdout }).toEqual({ code: 0, stdout: live.stdout });
    expect(offline.stdout).toContain("ttl_sec    30");
    await writeFile(join(cwd, "tenon.yaml"), "tenon: 1\naccount: staging\n");
    expectPlain(await here(["plan", "--live", "live.json"], { cwd }), 4, ["staging"]);
  });
});
