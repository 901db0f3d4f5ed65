/** `tenon undo` and `apply --undo`: what a run has done is taken back from its journal, and what somebody has changed since is left as it is. */

import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Emulator, EmulatorOptions } from "../../src/emulator/index.ts";
import { tested } from "../support/emulator.ts";
import { here } from "./here.ts";
import { type Ended, emulator, ended, envOf, folder, run, start } from "./run.ts";
import { faults } from "./stage.ts";

const BEFORE = `tenon: 1
owner: edge
vpcs:
  - label: prod
    region: us-east
    description: Before
    subnets:
      - { label: web, ipv4: 10.0.1.0/24 }
      - { label: db, ipv4: 10.0.2.0/24 }
domains:
  - domain: example.com
    type: master
    soa_email: a@example.com
    records:
      - { type: A, name: www, target: 192.0.2.1, ttl_sec: 300 }
      - { type: CNAME, name: shop, target: www, ttl_sec: 300 }
  - domain: old.example
    type: master
    soa_email: a@example.com
    tags: [kept]
    records:
      - { type: TXT, name: bücher, target: "grüße \\"x\\" 🎉", ttl_sec: 300 }
      - { type: MX, target: mx.example.net., priority: 10, ttl_sec: 300, lint: { off: [mx-without-spf, mx-without-dmarc] } }
`;

const AFTER = `tenon: 1
owner: edge
vpcs:
  - label: prod
    region: eu-west
    description: After
    subnets:
      - { label: web2, ipv4: 10.0.1.0/24 }
      - { label: app, ipv4: 10.0.3.0/24 }
domains:
  - domain: example.com
    type: master
    soa_email: b@example.com
    records:
      - { type: A, name: www, target: 192.0.2.2, ttl_sec: 300 }
      - { type: TXT, name: new, target: hi, ttl_sec: 300 }
  - domain: new.example
    type: master
    soa_email: a@example.com
    records: [{ type: A, name: a, target: 192.0.2.1, ttl_sec: 300 }]
`;

const ALLOW = ["delete", "replace", "bulk"].flatMap((rule) => ["--allow", `${rule}=*`]);

interface Done {
  readonly service: Emulator;
  readonly cwd: string;
  /** Of the second apply. */
  readonly journal: string;
  tenon(...args: string[]): Promise<Ended>;
}

/** An account that was as BEFORE says, and then AFTER was applied. */
async function applied({
  before = BEFORE,
  after = AFTER,
  ...options
}: EmulatorOptions & { readonly before?: string; readonly after?: string } = {}): Promise<Done> {
  const service = await emulator(options);
  const cwd = await folder({ "tenon.yaml": before });
  const tenon = (...args: string[]) => here(args, { cwd, env: envOf(service) });
  const first = await tenon("apply", "--yes");
  if (first.code !== 0) throw new Error(first.stdout + first.stderr);
  await writeFile(join(cwd, "tenon.yaml"), after);
  const second = await tenon("apply", "--yes", "--journal", "run.jsonl", ...ALLOW);
  if (second.code !== 0) throw new Error(second.stdout + second.stderr);
  return { service, cwd, journal: join(cwd, "run.jsonl"), tenon };
}

const journalText = ({ journal }: Done) => readFile(journal, "utf8");

const unwrapped = (text: string) => text.replace(/\n +/g, " ");

async function recordsOf(service: Emulator, domain: string): Promise<Record<string, unknown>[]> {
  const { send } = tested(service);
  const { body } = await send("GET", "/domains?page_size=500");
  const id = body.data.find((one: { domain: string }) => one.domain === domain)?.id;
  return (await send("GET", `/domains/${id}/records?page_size=500`)).body.data;
}

/** Nothing but GETs was sent, whatever was asked for. */
function writes({ service }: Done): string[] {
  return service.requests.filter(({ method }) => method !== "GET").map(({ method, path }) => `${method} ${path}`);
}

describe("an undo", () => {
  it("is a plan that says what comes back, what does not, and that the manifests stay; it sends lists alone", async () => {
    const done = await applied();
    done.service.clearRequests();
    const { code, stdout } = await done.tenon("undo", "run.jsonl");
    expect(code).toBe(0);
    expect(stdout).toContain("~ www  A     192.0.2.2 → 192.0.2.1 ttl 300");
    expect(stdout).toContain("- domain new.example and its 1 record (undo: made by that run)");
    expect(stdout).toContain('+ xn--bcher-kva (bücher) TXT "grüße \\"x\\" 🎉"');
    expect(stdout).toContain("-/+ vpc prod");
    expect(stdout).toContain("Warning: the manifests still say what this undoes");
    expect(stdout).toContain("Warning: vpc/prod gets a new id");
    expect(stdout).toContain("domain/new.example would be deleted: the run that is undone made it");
    expect(writes(done)).toEqual([]);
  });

  it("is refused without consent, is applied as it was reviewed, plans empty then, and can be undone itself", async () => {
    const done = await applied();
    const { tenon, cwd } = done;
    expect(await tenon("undo", "run.jsonl", "--out", "undo.plan")).toMatchObject({ code: 0 });
    expect(await tenon("apply", "--plan", "undo.plan", "--yes")).toMatchObject({ code: 4 });
    const args = ["apply", "--plan", "undo.plan", "--yes", "--journal", "undo.jsonl", ...ALLOW];
    const { code, stdout } = await tenon(...args);
    expect(stdout).toContain("Undo complete!");
    expect(code).toBe(0);
    expect((await tenon("undo", "run.jsonl")).stdout).toBe("No changes. Nothing that the run did is left to undo.\n");
    await writeFile(join(cwd, "tenon.yaml"), BEFORE);
    expect((await tenon("plan", "--detailed-exitcode")).code).toBe(0);
    expect((await tenon("apply", "--undo", "undo.jsonl", "--yes", ...ALLOW)).code).toBe(0);
    await writeFile(join(cwd, "tenon.yaml"), AFTER);
    expect((await tenon("plan", "--detailed-exitcode")).code).toBe(0);
  });

  it("does no more than the reviewed plan shows, and nothing where the flags beside it differ", async () => {
    const done = await applied();
    const { tenon } = done;
    await tenon("undo", "run.jsonl", "--target", "domain/example.com", "--out", "undo.plan");
    const pinned = await tenon("apply", "--plan", "undo.plan", "--yes", "--pin", "--undo", "run.jsonl", ...ALLOW);
    expect(pinned).toMatchObject({ code: 1 });
    expect(pinned.stderr).toContain("made with other targets");
    expect((await tenon("apply", "--plan", "undo.plan", "--yes", "--undo", "other.jsonl")).stderr).toContain(
      "the plan file was made with other journal",
    );
    const otherRun = await tenon(
      "apply",
      "--plan",
      "undo.plan",
      "--yes",
      "--run",
      "2026-01-01T00:00:00.000Z",
      ...ALLOW,
    );
    expect([otherRun.code, otherRun.stderr]).toEqual([1, expect.stringContaining("made with other run")]);
    expect(await tenon("apply", "--plan", "undo.plan", "--yes", ...ALLOW)).toMatchObject({ code: 0 });
    expect(await recordsOf(done.service, "example.com")).toHaveLength(2);
    expect((await tenon("undo", "run.jsonl")).stdout).toContain("- domain new.example");
  });

  it("leaves as it is what somebody has changed since, shows it as blocked, and says what is in the way or gone", async () => {
    const done = await applied();
    const { send } = tested(done.service);
    const { body } = await send("GET", "/domains");
    const idOf = (name: string) => body.data.find(({ domain }: { domain: string }) => domain === name).id;
    const records = await recordsOf(done.service, "example.com");
    const www = records.find(({ name }) => name === "www");
    await send("PUT", `/domains/${idOf("example.com")}/records/${www?.["id"]}`, { target: "192.0.2.77" });
    await send("POST", `/domains/${idOf("example.com")}/records`, { type: "A", name: "shop", target: "192.0.2.8" });
    await send("POST", `/domains/${idOf("new.example")}/records`, { type: "A", name: "b", target: "192.0.2.9" });
    await send("POST", "/domains", { domain: "old.example", type: "master", soa_email: "z@example.com" });
    const { stdout } = await done.tenon("undo", "run.jsonl");
    expect(stdout).toMatch(
      /! ~ www +A +192\.0\.2\.77 → 192\.0\.2\.1 ttl 300 \(blocked\)\n +blocked: somebody has changed it/,
    );
    expect(stdout).toContain("! - domain new.example and its 2 records (undo: made by that run; blocked)");
    expect(stdout).toContain("Warning: domain/old.example is not made again: another object has its name");
    expect(unwrapped(stdout)).toContain(
      "Warning: a CNAME of domain/example.com is not restored: something stands in its place",
    );
    const { code } = await done.tenon("apply", "--undo", "run.jsonl", "--yes", ...ALLOW);
    expect(code).toBe(6);
    const left = await recordsOf(done.service, "example.com");
    expect(left.map(({ name, target }) => `${name} ${target}`).sort()).toEqual(["shop 192.0.2.8", "www 192.0.2.77"]);
    expect(await recordsOf(done.service, "new.example")).toHaveLength(2);
  });

  it("warns of answers that stay in caches, as an apply does", async () => {
    const before = BEFORE.replace("192.0.2.1, ttl_sec: 300", "192.0.2.1, ttl_sec: 86400");
    const done = await applied({
      before,
      after: before.replace("192.0.2.1, ttl_sec: 86400", "192.0.2.9, ttl_sec: 86400"),
    });
    const { stdout } = await done.tenon("undo", "run.jsonl");
    expect(stdout).toContain("Warning: caches keep the old domain/example.com/www/A until ");
  });

  it("does not warn of what the project switches off, and writes its own run behind the one that it takes back", async () => {
    const slow = BEFORE.replace("192.0.2.1, ttl_sec: 300", "192.0.2.1, ttl_sec: 86400");
    const off = "lint: { off: [cached-target] }\n";
    for (const before of [slow + off, slow.replace("    records:", `    ${off}    records:`)]) {
      const done = await applied({ before, after: before.replace("target: 192.0.2.1", "target: 192.0.2.9") });
      const { code, stdout } = await done.tenon("apply", "--undo", "run.jsonl", "--journal", "run.jsonl", "--yes");
      expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.not.stringContaining("caches keep") });
      const runs = (await readFile(join(done.cwd, "run.jsonl"), "utf8")).match(/"goal":"\w+"/g);
      expect(runs).toEqual(['"goal":"apply"', '"goal":"undo"']);
    }
  });

  it("of very many objects alike gives one true reason for all of them, as refusal and as consent", async () => {
    const brands = (from: number, to: number, target: string) =>
      Array.from({ length: to - from }, (_, index) => {
        const records = `[{ type: A, name: www, target: ${target}, ttl_sec: 300 }]`;
        return `  - { domain: brand${from + index}.example, type: master, soa_email: a@a.example, records: ${records} }\n`;
      }).join("");
    const head = "tenon: 1\nowner: edge\ndomains:\n";
    const before = head + brands(0, 40, "192.0.2.1");
    const after = head + brands(0, 80, "192.0.2.2");
    const done = await applied({ before, after });
    const refused = await done.tenon("undo", "run.jsonl");
    expect(refused.stdout).toContain("40 domains would be deleted: the run that is undone made them");
    expect(refused.stdout).not.toMatch(/carry our tag|no longer declared|expired/);
    const allowed = await done.tenon("undo", "run.jsonl", "--allow", "delete=*");
    const consents =
      "  delete 40 domains (domain/brand40.example … domain/brand79.example), which\n     that run made\n";
    expect(allowed.stdout).toContain(`Consent is given to:\n${consents}`);
    const full = await done.tenon("undo", "run.jsonl", "--allow", "delete=*", "--full");
    expect(full.stdout).toContain("  delete domain/brand57.example, which that run made\n");
    await writeFile(join(done.cwd, "tenon.yaml"), head + brands(0, 80, "192.0.2.3"));
    expect((await done.tenon("apply", "--yes")).code).toBe(0);
    const blocked = await done.tenon("undo", "run.jsonl");
    expect(blocked.stdout).toContain("40 domains alike: brand0.example … brand39.example");
    expect(blocked.stdout).toContain(
      "! - 40 domains alike: (undo: made by that run; blocked)\n       brand40.example … brand79.example\n",
    );
    expect(blocked.stdout.match(/somebody has changed it since/g)).toHaveLength(2);
    expect(blocked.stdout).toContain("--full shows each");
    for (const format of ["markdown", "html"]) {
      const { stdout } = await done.tenon("undo", "run.jsonl", "--format", format);
      expect(stdout).toMatch(/80 changes: domain\/brand0\.example\S* … domain\/brand9\.example/);
    }
    const each = await done.tenon("undo", "run.jsonl", "--full");
    expect(each.stdout.match(/somebody has changed it since/g)).toHaveLength(80);
  });

  it("keeps to what the run has done: a change that was skipped, and that another run made later, stays", async () => {
    const service = await emulator(faults("status=400,method=PUT,path=/domains/*/records/*,nth=1"));
    const cwd = await folder({ "tenon.yaml": BEFORE });
    const tenon = (...args: string[]) => here(args, { cwd, env: envOf(service) });
    await tenon("apply", "--yes");
    const changed = BEFORE.replace("192.0.2.1,", "192.0.2.5,").replace("a@example.com", "c@example.com");
    await writeFile(join(cwd, "tenon.yaml"), changed);
    expect(await tenon("apply", "--yes", "--journal", "run.jsonl")).toMatchObject({ code: 6 });
    expect(await tenon("apply", "--yes")).toMatchObject({ code: 0 });
    const { stdout } = await tenon("undo", "run.jsonl");
    expect(stdout).toContain('soa_email  "c@example.com" → "a@example.com"');
    expect(stdout).not.toContain("192.0.2.5");
  });

  it("takes back what a killed run has begun, also where no outcome is in its journal, and warns", async () => {
    const service = await emulator(faults("slow-headers=60000,method=POST,path=/domains,nth=1"));
    const cwd = await folder({ "tenon.yaml": AFTER });
    const child = start(["apply", "--yes", "--concurrency", "1"], { cwd, env: envOf(service) });
    const end = ended(child);
    await expect
      .poll(() => service.requests.some(({ path }) => path === "/v4/domains"), { timeout: 30_000 })
      .toBe(true);
    await expect
      .poll(() => service.requests.filter(({ method }) => method === "POST").length, { timeout: 30_000 })
      .toBeGreaterThan(0);
    child.kill("SIGKILL");
    await end;
    const [name = ""] = await readdir(join(cwd, ".tenon/journal"));
    const journal = join(".tenon/journal", name);
    const tenon = (...args: string[]) => run(args, { cwd, env: envOf(service) });
    const { code, stderr } = await tenon("apply", "--undo", journal, "--yes", ...ALLOW);
    expect(stderr.replace(/\n +/g, " ")).toContain("the journal has no end: the run was killed, or lines are missing");
    expect(code).toBe(0);
    const { send } = tested(service);
    expect((await send("GET", "/domains")).body.data).toEqual([]);
    expect((await send("GET", "/vpcs")).body.data).toEqual([]);
  });

  it("waits where the service asks for it", async () => {
    const done = await applied(faults("status=429,retry-after=1,method=POST,path=/domains,nth=4"));
    const { code, stdout } = await done.tenon("apply", "--undo", "run.jsonl", "--yes", ...ALLOW);
    expect(stdout).toContain("Undo complete!");
    expect(code).toBe(0);
    expect(done.service.requests.filter(({ status }) => status === 429)).toHaveLength(1);
  });

  it("is killed in the middle, and run again: the rest is done", async () => {
    const done = await applied(faults("slow-headers=60000,method=POST,path=/domains/*/records,nth=8"));
    const { cwd, service, tenon } = done;
    done.service.clearRequests();
    const args = ["apply", "--undo", "run.jsonl", "--yes", "--concurrency", "1", ...ALLOW];
    const child = start(args, { cwd, env: envOf(service) });
    const end = ended(child);
    const filled = () => service.requests.filter(({ method, path }) => method === "POST" && path.endsWith("/records"));
    await expect.poll(() => filled().length, { timeout: 30_000 }).toBeGreaterThan(1);
    child.kill("SIGKILL");
    await end;
    await writeFile(join(cwd, "tenon.yaml"), BEFORE);
    expect((await tenon("plan", "--detailed-exitcode")).code).toBe(2);
    expect(await tenon("apply", "--undo", "run.jsonl", "--yes", ...ALLOW)).toMatchObject({ code: 0 });
    expect((await tenon("plan", "--detailed-exitcode")).code).toBe(0);
  });

  it("restores a zone of 3,000 records with all of them", async () => {
    const records = Array.from({ length: 3_000 }, (_, index) => ({
      ...{ id: index + 1, type: "A" as const, name: `h${index}`, target: "192.0.2.1", ttl_sec: 300 },
    }));
    const service = await emulator({
      seed: { domains: [{ id: 1, domain: "big.example", soa_email: "a@a.example", tags: ["tenon:edge"], records }] },
    });
    const cwd = await folder({ "tenon.yaml": "tenon: 1\nowner: edge\nremoved: [{ domain: big.example }]\n" });
    const tenon = (...args: string[]) => here(args, { cwd, env: envOf(service) });
    expect(await tenon("apply", "--yes", "--journal", "run.jsonl")).toMatchObject({ code: 0 });
    expect((await tested(service).send("GET", "/domains")).body.data).toEqual([]);
    const undone = await tenon("apply", "--undo", "run.jsonl", "--yes", "--concurrency", "32");
    expect(undone.stdout).toContain("Undo complete! Resources: 3001 added, 0 changed, 0 destroyed.");
    expect((await tenon("undo", "run.jsonl")).stdout).toContain("Nothing that the run did is left to undo.");
  });

  it("gives a deleted image up, and says so; what the run changed of another comes back", async () => {
    const service = await emulator({
      seed: {
        images: [
          { id: "private/1", label: "golden", description: "old [tenon:edge]", status: "available", size: 10 },
          { id: "private/2", label: "silver", description: "[tenon:edge]", status: "available", size: 10 },
        ],
      },
    });
    const cwd = await folder({
      "tenon.yaml":
        "tenon: 1\nowner: edge\nimages: [{ label: golden, description: new }]\nremoved: [{ image: silver }]\n",
    });
    const tenon = (...args: string[]) => here(args, { cwd, env: envOf(service) });
    await tenon("apply", "--yes", "--journal", "run.jsonl");
    const { stdout } = await tenon("undo", "run.jsonl");
    expect(stdout).toContain('description  "new" → "old"');
    expect(stdout).toContain("Warning: image/silver does not come back");
  });
});

describe("a journal that cannot be undone is refused with its line, and nothing is sent", () => {
  const lineOf = (text: string, type: string) =>
    text.split("\n").findIndex((line) => line.includes(`"type":"${type}"`));

  it("cut within a line, or with lines missing before `begin`", async () => {
    const done = await applied();
    const text = await journalText(done);
    await writeFile(done.journal, text.slice(0, -20));
    done.service.clearRequests();
    const count = text.trimEnd().split("\n").length;
    const cut = await done.tenon("undo", "run.jsonl");
    expect(cut.code).toBe(1);
    expect(cut.stderr).toContain("error[journal-cut]");
    expect(cut.stderr).toContain(`run.jsonl:${count}:1`);
    const lines = text.split("\n");
    lines.splice(2, 1);
    await writeFile(done.journal, lines.join("\n"));
    const missing = await done.tenon("apply", "--undo", "run.jsonl", "--yes");
    expect(missing.code).toBe(1);
    expect(missing.stderr).toContain("error[journal-damaged]");
    expect(missing.stderr).toContain(`run.jsonl:${lineOf(lines.join("\n"), "begin") + 1}:1`);
    expect(done.service.requests).toEqual([]);
  });

  it("of another service, account, environment or owner, each by its name", async () => {
    const done = await applied();
    const text = await journalText(done);
    done.service.clearRequests();
    for (const [from, to, words] of [
      [/"host":"[^"]*"/, '"host":"api.other.example"', /of another service[\s\S]*"api\.other\.example"/],
      [
        '"account":null',
        '"account":"prod"',
        /of another account[\s\S]*the account "prod", and this one has no account/,
      ],
      ['"environment":null', '"environment":"prod"', /of another environment[\s\S]*Give the --env of that run/],
      ['"owner":"edge"', '"owner":"bank"', /of another owner[\s\S]*the owner "bank"/],
    ] as const) {
      await writeFile(done.journal, text.replace(from, to));
      const { code, stderr } = await done.tenon("undo", "run.jsonl");
      expect(stderr.replace(/\n +/g, " ")).toMatch(words);
      expect(stderr).toContain("run.jsonl:1:1");
      expect(code).toBe(4);
    }
    expect(done.service.requests).toEqual([]);
  });

  it("of another version, or of no journal at all", async () => {
    const done = await applied();
    const text = await journalText(done);
    for (const [other, code] of [
      [text.replace('"format_version":1', '"format_version":2'), "journal-version"],
      [text.replace('"format_version":1,', ""), "journal-version"],
      [text.split("\n").slice(1).join("\n"), "journal-foreign"],
      ["", "journal-foreign"],
      ["tenon: 1\n", "journal-damaged"],
    ] as const) {
      await writeFile(done.journal, other);
      expect((await done.tenon("undo", "run.jsonl")).stderr).toContain(`error[${code}]`);
    }
    expect((await done.tenon("undo", "nosuch.jsonl")).stderr).toContain("there is no such file: nosuch.jsonl");
    expect((await done.tenon("undo", "/dev/zero")).stderr).toContain("is not a regular file");
    const newest = ".tenon/journal/9999-11-23T10-00-00.000Z.jsonl";
    expect((await done.tenon("undo", "nosuch.jsonl")).stderr).not.toContain(newest);
    await mkdir(join(done.cwd, ".tenon/journal"), { recursive: true });
    for (const name of [newest, newest.replace("-23T", "-22T")]) await writeFile(join(done.cwd, name), "");
    const named = await done.tenon("undo", "nosuch.jsonl");
    expect(named.stderr).toContain(`The newest journal of the project is ${newest}\n`);
  });

  it("of runs that wrote to one file at the same time: each is undone by itself", async () => {
    const service = await emulator({ latencyMilliseconds: 100 });
    const targets = Array.from({ length: 40 }, (_, index) => `192.0.2.${index + 1}`).join(", ");
    const zoneOf = (owner: string) =>
      `tenon: 1\nowner: ${owner}\ndomains: [{ domain: ${owner}.example, type: master, soa_email: a@b.example, records: [{ type: A, targets: [${targets}] }] }]\n`;
    const [one, other] = [
      await folder({ "tenon.yaml": zoneOf("one") }),
      await folder({ "tenon.yaml": zoneOf("other") }),
    ];
    const journal = join(one, "both.jsonl");
    const env = envOf(service);
    const ends = await Promise.all(
      [one, other].map((cwd) => run(["apply", "--yes", "--journal", journal], { cwd, env })),
    );
    expect(ends.map(({ code }) => code)).toEqual([0, 0]);
    const lines = (await readFile(journal, "utf8"))
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const heads = lines.filter(({ type }) => type === "run");
    const firstEnd = lines.findIndex(({ type }) => type === "end");
    // Both had begun before either ended, or this test shows nothing.
    expect(lines.findLastIndex(({ type }) => type === "run")).toBeLessThan(firstEnd);
    for (const { run: id, owner } of heads) {
      const undo = await run(["undo", journal, "--run", id, "--detailed-exitcode"], {
        ...{ cwd: owner === "one" ? one : other, env },
      });
      expect([owner, undo.code, undo.stderr]).toEqual([owner, 2, ""]);
      expect(undo.stdout).toContain(`- domain ${owner}.example and its 40 records (undo: made by that run)`);
    }
    // In one millisecond several may begin: then the time alone does not say which.
    const same = lines.map((line) => (line.type === "run" ? { ...line, started: heads[0].started } : line));
    await writeFile(journal, `${same.map((line) => JSON.stringify(line)).join("\n")}\n`);
    const { code, stderr } = await run(["undo", journal, "--run", heads[0].started], { cwd: one, env });
    expect(code).toBe(1);
    const said = unwrapped(stderr);
    expect(said).toContain(`Several began at ${heads[0].started}: ${heads[0].run}, ${heads[1].run}.`);
    expect(said).toContain(`--run ${heads[1].run}.`);
    const twice = lines.map((line) => (line.type === "run" ? { ...line, run: heads[0].run } : line));
    await writeFile(journal, `${twice.map((line) => JSON.stringify(line)).join("\n")}\n`);
    const forged = await run(["undo", journal, "--run", heads[0].started], { cwd: one, env });
    expect([forged.code, unwrapped(forged.stderr)]).toEqual([
      1,
      expect.stringContaining("another run in the file has the same `run`"),
    ]);
  });

  it("of several runs, until it is said which", async () => {
    const done = await applied();
    await writeFile(join(done.cwd, "tenon.yaml"), AFTER.replace("192.0.2.2", "192.0.2.3"));
    expect(await done.tenon("apply", "--yes", "--journal", "run.jsonl")).toMatchObject({ code: 0 });
    const { code, stderr } = await done.tenon("undo", "run.jsonl");
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining("holds several runs") });
    const started = /--run ([\d:.TZ-]+)\./.exec(stderr.replace(/\n +/g, " "))?.[1] ?? "";
    const { stdout } = await done.tenon("undo", "run.jsonl", "--run", started);
    expect(stdout).toContain("192.0.2.3 → 192.0.2.2");
    expect(stdout).not.toContain("old.example");
    expect((await done.tenon("undo", "run.jsonl", "--run", "2020-01-01T00:00:00.000Z")).stderr).toContain(
      "no such run",
    );
    expect((await done.tenon("apply", "--yes", "--run", started)).stderr).toContain("--run is for --undo");
  });
});
