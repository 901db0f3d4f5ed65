/** A domain with letters beyond ASCII is the same one in Unicode and in punycode, wherever a command takes its name or its address. */

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Ended, emulator, envOf, folder, run } from "./run.ts";

const PUNYCODE = "xn--bcher-kva.example";

const domain = (name: string, more = "") => `  - domain: ${name}
    type: master
    soa_email: a@example.com
    records:
      - { type: A, name: www, target: 192.0.2.1, ttl_sec: 300 }
${more}`;

const GRUESSE = "      - { type: TXT, name: grüße, target: hi, ttl_sec: 300 }\n";
const HEAD = "tenon: 1\nowner: edge\ndomains:\n";
const BOTH = HEAD + domain("bücher.example", GRUESSE) + domain("other.example");

interface Account {
  readonly cwd: string;
  tenon(...args: string[]): Promise<Ended>;
}

/** @param applied the manifest whose objects are in the account; the project's afterwards is `manifest` */
async function account({ applied = "", manifest = BOTH }): Promise<Account> {
  const service = await emulator();
  const cwd = await folder({ "tenon.yaml": applied === "" ? manifest : applied });
  const tenon = (...args: string[]) => run(args, { cwd, env: envOf(service) });
  if (applied !== "") {
    const first = await tenon("apply", "--yes", "--journal", "run.jsonl");
    if (first.code !== 0) throw new Error(first.stdout + first.stderr);
    await writeFile(join(cwd, "tenon.yaml"), manifest);
  }
  return { cwd, tenon };
}

describe("an import", () => {
  it.each(["bücher.example", "BÜCHER.example.", "bü*.example", PUNYCODE, "*.example"])(
    "of the account knows a domain as %s",
    async (name) => {
      const { tenon } = await account({ applied: BOTH });
      const { code, stdout, stderr } = await tenon("import", "--owner", "edge", "--domain", name, "--out", "-");
      expect(stderr).not.toContain("no domain fits");
      expect(stdout).toMatch(/domain: (bücher|xn--bcher-kva)\.example/);
      expect(stdout.includes("other.example")).toBe(name === "*.example");
      expect(code).toBe(0);
    },
  );

  it.each([
    ["bücher.example", PUNYCODE],
    [PUNYCODE, "bücher.example"],
    ["bü*", PUNYCODE],
    ["bücher.example!inside", `${PUNYCODE}!inside`],
    ["bücher.example!INSIDE", `bücher.example!inside`],
  ])("of DNSControl's JSON takes --domain %s for %s", async (name, written) => {
    const one = (called: string) => ({ name: called, registrar: "none", dnsProviders: { l: -1 }, records: [] });
    const ir = { dns_providers: [], registrars: [], domains: [one(written), one("other.example")] };
    const cwd = await folder({ "ir.json": JSON.stringify(ir) });
    const args = ["import", "--from", "dnscontrol", "ir.json", "--soa-email", "a@a.test", "--domain", name];
    const { code, stdout, stderr } = await run([...args, "--out", "-"], { cwd });
    expect(stderr).not.toContain("no domain fits");
    expect(stdout).toMatch(/domain: (bücher|xn--bcher-kva)\.example/);
    expect(stdout).not.toContain("other.example");
    expect(code).toBe(0);
  });
});

describe("an address", () => {
  it.each([
    ["domain/bücher.example", true],
    [`domain/${PUNYCODE}`, true],
    ["domain/Bücher.example/grüße/TXT", false],
    ["domain/bü*", true],
    ["domain/*ücher.example/www/A", true],
    ["*/bücher.example/www/*", true],
    ["*grü*", false],
  ])("narrows a plan: --target and --exclude %s", async (address, hasWww) => {
    const { tenon } = await account({});
    const only = await tenon("plan", "--target", address);
    expect(only.stderr).toBe("");
    expect(only.stdout).toContain(PUNYCODE);
    expect(only.stdout).not.toContain("other.example");
    expect(only.stdout.includes("www")).toBe(hasWww);
    const others = await tenon("plan", "--exclude", address);
    expect(others.stdout).toContain("other.example");
    expect(others.stdout.includes("grüße")).toBe(!/bü|grü|domain\/xn|B/.test(address) || address.includes("www"));
    expect([only.code, others.code]).toEqual([0, 0]);
  });

  it("that fits nothing is answered with the nearest one", async () => {
    const { tenon } = await account({});
    const { code, stderr, stdout } = await tenon("plan", "--target", "bücher.example");
    expect(stdout + stderr).toContain(`Did you mean \`domain/${PUNYCODE}\`?`);
    expect(code).not.toBe(0);
  });

  it("is the same beside the plan that was made with the other spelling", async () => {
    const { tenon } = await account({});
    await tenon("plan", "--target", "domain/bücher.example", "--out", "a.plan");
    const applied = await tenon("apply", "--plan", "a.plan", "--yes", "--pin", "--target", `domain/${PUNYCODE}`);
    expect(applied.code).toBe(0);
  });

  it.each(["domain/bücher.example", "domain/bü*", "domain/BÜCHER.EXAMPLE"])(
    "is consent to delete: %s by flag and in the root file",
    async (address) => {
      const manifest = HEAD + domain("other.example");
      const { tenon, cwd } = await account({ applied: BOTH, manifest });
      expect((await tenon("apply", "--yes")).code).toBe(4);
      expect((await tenon("plan", "--allow", `delete=${address}`)).stdout).toContain("Consent is given to:");
      await writeFile(join(cwd, "tenon.yaml"), `${manifest}allow: [{ delete: "${address}" }]\n`);
      expect((await tenon("apply", "--yes")).code).toBe(0);
    },
  );

  it("does not cover a domain whose punycode alone it resembles", async () => {
    const { tenon } = await account({ applied: BOTH, manifest: HEAD + domain("other.example") });
    const { stdout } = await tenon("plan", "--allow", "delete=domain/bücherx*");
    expect(stdout).toContain("Apply would refuse this plan:");
  });

  it("is shown, printed, and undone", async () => {
    const { tenon, cwd } = await account({ applied: BOTH });
    const shown = await tenon("show", "domain/bücher.example/grüße/TXT");
    expect(shown.stdout).toContain(`domain/${PUNYCODE}/xn--gre-6ka8l/TXT`);
    const id = await tenon("output", "domain/bücher.example");
    expect(id.stdout).toMatch(/^\d+\n$/);
    expect((await tenon("output", `domain/${PUNYCODE}`)).stdout).toBe(id.stdout);
    const undone = await tenon("undo", "run.jsonl", "--target", "domain/bücher.example");
    expect(undone.stdout).toContain(`- domain ${PUNYCODE} (bücher.example)`);
    expect(undone.stdout).not.toContain("other.example");
    expect([shown.code, id.code, undone.code]).toEqual([0, 0, 0]);
    expect(await readFile(join(cwd, "run.jsonl"), "utf8")).toContain(PUNYCODE);
  });
});
