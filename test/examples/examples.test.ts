import { readdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { domainToASCII } from "node:url";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { parseSeed } from "../../src/emulator/index.ts";
import { Example } from "./example.ts";

const IDN = domainToASCII("bücher-parked.example");
const EXAMPLES = join(import.meta.dirname, "../../examples");

it("every example is tested here, but for the one that is a test itself, and the pipelines (ci-*.test.ts)", () => {
  expect(readdirSync(EXAMPLES).sort()).toEqual([
    "ci",
    "demo",
    "fleet",
    "images",
    "migration",
    "minimal",
    "network",
    "shared",
    "testing",
    "zone",
  ]);
});

describe("examples/minimal", () => {
  it("is a zone with three records", async () => {
    const example = await Example.open("minimal");
    expect(await example.converge()).toContain("Resources: 4 added, 0 changed, 0 destroyed.");
    const records = await example.recordsOf("example.com");
    expect(records.map(({ type, name, target }) => [type, name, target]).sort()).toEqual([
      ["A", "", "192.0.2.10"],
      ["CNAME", "www", "example.com"],
      ["TXT", "", "v=spf1 -all"],
    ]);
  });
});

describe("examples/network", () => {
  it("makes one network for each environment, side by side in one account", async () => {
    const example = await Example.open("network");
    await example.converge("--env", "staging");
    await example.converge("--env", "production");
    expect((await example.run("plan", "--detailed-exitcode", "--env", "staging")).code).toBe(0);
    const vpcs = await example.list("/vpcs");
    const shown = vpcs.map(({ label, subnets }) => [
      label,
      (subnets as { ipv4: string }[]).map(({ ipv4 }) => ipv4).sort(),
    ]);
    expect(Object.fromEntries(shown)).toEqual({
      staging: ["10.1.1.0/24", "10.1.2.0/24", "10.1.3.0/24"],
      "staging-management": ["10.1.250.0/28"],
      production: ["10.0.1.0/24", "10.0.2.0/24", "10.0.3.0/24"],
      "production-management": ["10.0.250.0/28"],
    });
  });

  it("needs an environment, and says which there are", async () => {
    const example = await Example.open("network");
    const { code, stderr } = await example.run("plan");
    expect(code).toBe(1);
    expect(stderr).toContain("staging");
    expect(stderr).toContain("production");
  });

  it("protects production from being destroyed, and staging not", async () => {
    const example = await Example.open("network");
    for (const [environment, code, left] of [
      ["production", 4, 2],
      ["staging", 0, 2],
    ] as const) {
      await example.converge("--env", environment);
      expect((await example.run("destroy", "--yes", "--env", environment)).code).toBe(code);
      expect(await example.list("/vpcs")).toHaveLength(left);
    }
  });
});

describe("examples/zone", () => {
  it.each(["nearest", "up"] as const)("arrives as it is written, with TTLs rounded %s", async (ttlRounding) => {
    const example = await Example.open("zone", { ttlRounding });
    await example.converge();
    const [domain] = await example.list("/domains");
    expect(domain).toMatchObject({ group: "corporate", status: "active", refresh_sec: 14_400, ttl_sec: 86_400 });
    expect(domain?.["tags"]).toEqual(["dns", "production", "tenon:web-team"]);
    const records = await example.recordsOf("example.com");
    const named = (name: string) => records.filter((record) => record["name"] === name);

    const [key] = named("mail2026._domainkey");
    const written = await readFile(join(EXAMPLES, "zone/tenon.yaml"), "utf8");
    expect(key?.["target"]).toBe(/"(v=DKIM1[^"]+)"/.exec(written)?.[1]);
    expect(String(key?.["target"]).length).toBeGreaterThan(255);
    expect(named("xn--bcher-kva")).toMatchObject([{ type: "CNAME", target: "example.com", ttl_sec: 3600 }]);
    expect(named("*.dev")).toMatchObject([{ type: "A", target: "192.0.2.99", ttl_sec: 300 }]);
    expect(
      named("lab")
        .map(({ type, target }) => [type, target])
        .sort(),
    ).toEqual([
      ["NS", "ns1.lab.example.com"],
      ["NS", "ns2.lab.example.com"],
    ]);
    expect(named("ns1.lab")).toMatchObject([{ type: "A", target: "192.0.2.53" }]);
    expect(named("_sip._tcp")).toMatchObject([
      { type: "SRV", service: "sip", protocol: "tcp", target: "sip.example.com", port: 5060, priority: 10, weight: 5 },
    ]);
    const certificates = records.filter(({ type }) => type === "CAA").map(({ tag, target }) => [tag, target]);
    expect(certificates.sort()).toEqual([
      ["iodef", "mailto:security@example.com"],
      ["issue", "letsencrypt.org; accounturi=https://acme-v02.api.letsencrypt.org/acme/acct/1"],
      ["issuewild", ";"],
    ]);
    expect(records).toHaveLength(26);
  });

  it("leaves alone what the certificate robot writes", async () => {
    const seed = {
      domains: [
        {
          domain: "example.com",
          soa_email: "hostmaster@example.com",
          tags: ["tenon:web-team"],
          records: [{ type: "TXT", name: "_acme-challenge", target: "robot" } as const],
        },
      ],
    };
    const example = await Example.open("zone", { seed });
    await example.converge();
    expect((await example.recordsOf("example.com")).filter(({ target }) => target === "robot")).toHaveLength(1);
  });
});

describe("examples/shared", () => {
  it("is one zone of two projects, of which the team's comes after the owner's", async () => {
    const example = await Example.open("shared");
    expect((await example.run("apply", "--yes", "shop")).code).toBe(4);
    await example.converge("platform");
    await example.converge("shop");
    expect((await example.run("plan", "--detailed-exitcode", "platform")).code).toBe(0);
    const [domain] = await example.list("/domains");
    expect(domain?.["tags"]).toEqual(["tenon-part:docs-team", "tenon-part:shop-team", "tenon:platform"]);
    const records = await example.recordsOf("example.com");
    expect(records.map(({ name }) => name).sort()).toEqual(["", "", "*.shop", "shop", "shop", "www"]);
    const expanded = JSON.parse((await example.run("show", "--expanded", "shop", "--format", "json")).stdout);
    expect(expanded.domains[0].part).toEqual({ names: ["*.shop", "shop"] });
  });
});

describe("examples/fleet", () => {
  it("is a hundred domains with the same eight records, read again with one request each", async () => {
    const example = await Example.open("fleet");
    expect(await example.converge()).toContain("Resources: 900 added, ");
    const domains = await example.list("/domains");
    expect(domains).toHaveLength(100);
    expect(new Set(domains.map(({ status }) => status))).toEqual(new Set(["active"]));
    expect(domains.map(({ domain }) => domain)).toContain(IDN);
    example.emulator.clearRequests();
    await example.run("plan");
    expect(example.emulator.requests).toHaveLength(1 + 100);
    for (const domain of ["parked-001.example", IDN]) {
      const records = await example.recordsOf(domain);
      expect(records.map(({ type, name, target }) => [type, name, target]).sort()).toEqual([
        ["A", "", "192.0.2.50"],
        ["A", "", "192.0.2.51"],
        ["AAAA", "", "2001:db8::50"],
        ["CAA", "", ";"],
        ["CNAME", "www", domain],
        ["MX", "", ""],
        ["TXT", "", "v=spf1 -all"],
        ["TXT", "_dmarc", `v=DMARC1; p=reject; rua=mailto:dmarc+${domain}@example.com`],
      ]);
    }
  });
});

describe("examples/demo", () => {
  it("can be built from nothing", async () => {
    const example = await Example.open("demo");
    await example.converge();
    const images = (await example.list("/images")).filter((image) => image["is_public"] === false);
    expect(images).toMatchObject([{ label: "golden-2026-11", status: "available", capabilities: ["cloud-init"] }]);
  });

  it("adopts its account but for what an interface holds, and then all of it", async () => {
    const seed = await parseSeed(await readFile(join(EXAMPLES, "demo/account.yaml"), "utf8"));
    const example = await Example.open("demo", { seed });
    const first = await example.run("apply", "--yes");
    expect(first.code).toBe(6);
    expect(first.stdout).toContain("interface 9002");
    await example.emulator.detach(9002);
    await example.converge();
    const domains = (await example.list("/domains")).map(({ domain }) => domain);
    expect(domains.filter((domain) => domain === "old.example" || domain === "campaign-2025.example")).toEqual([]);
    expect((await example.list("/vpcs")).map(({ label }) => label).sort()).toEqual(["prod", "sandbox", "staging"]);
  });
});

describe("examples/images", () => {
  const labels = async (example: Example) => (await example.list("/images")).map(({ label }) => label).sort();

  it("rolls a family through four months, and keeps what is not of the family or not ours", async () => {
    const seed = {
      images: [
        { label: "golden-2020-01", description: "by hand" },
        { label: "golden-2020-02", description: "[tenon:other]" },
      ],
    };
    const example = await Example.open("images", { seed });
    const body = JSON.stringify({ advance_seconds: 30 * 86_400 });
    for (const month of ["2026-08", "2026-09", "2026-10", "2026-11"]) {
      await writeFile(join(example.folder, "images/golden.img.gz"), gzipSync(`disk of ${month}`));
      const planned = await example.run("plan", "--var", `month=${month}`);
      expect(planned.stdout.includes("- image golden-2026-08 (retire: ")).toBe(month === "2026-11");
      await example.converge("--var", `month=${month}`);
      const headers = { "content-type": "application/json", "x-tenon-emulator": "yes" };
      await fetch(new URL("/_emulator/clock", example.emulator.baseUrl), { method: "POST", headers, body });
    }
    const others = ["golden-2020-01", "golden-2020-02"];
    expect(await labels(example)).toEqual([...others, "golden-2026-09", "golden-2026-10", "golden-2026-11"]);
  });

  it("replaces the month's image when its file has changed, with no other consent than `keep`", async () => {
    const example = await Example.open("images");
    await example.converge("--var", "month=2026-11");
    const [before] = await example.list("/images");
    await writeFile(join(example.folder, "images/golden.img.gz"), gzipSync("a fix"));
    const drift = await example.run("drift", "--var", "month=2026-11");
    expect(drift).toMatchObject({ code: 2, stdout: expect.stringMatching(/^changed {5}image\/golden-2026-11$/m) });
    expect(drift.stdout).not.toMatch(/upload|cloud_init/);
    expect(await example.converge("--var", "month=2026-11")).toContain("1 added, 0 changed, 1 destroyed.");
    const after = await example.list("/images");
    expect(after).toMatchObject([{ label: "golden-2026-11" }]);
    expect(after[0]?.["id"]).not.toBe(before?.["id"]);
  });

  it("is imported as images of their own, and nothing is to be done then", async () => {
    const example = await Example.open("images");
    for (const month of ["2026-10", "2026-11"]) await example.converge("--var", `month=${month}`);
    const imported = await example.run("import", "--images", "--owner", "platform", "--out", "imported");
    expect(imported).toMatchObject({ code: 0 });
    const text = await readFile(join(example.folder, "imported/tenon.yaml"), "utf8");
    expect(text).toContain("label: golden-2026-11");
    expect(text).not.toContain("sha256");
    const planned = await example.run("plan", "imported", "--detailed-exitcode");
    expect(planned).toMatchObject({ code: 0, stdout: expect.stringMatching(/^No changes\./m) });
  });
});
