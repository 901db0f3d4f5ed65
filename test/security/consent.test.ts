import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { open, TenonError } from "../../src/index.ts";
import { guardsOf } from "../../src/plan/guards.ts";
import { units } from "../../src/units/index.ts";
import { here as run } from "../cli/here.ts";
import { emulator, envOf, folder } from "../cli/run.ts";
import { codes, load, loadFiles, loadText, folder as written } from "../manifest/support.ts";
import { change } from "../plan/changes.ts";
import { link, refuse } from "./hostile.ts";

const ROOT_ONLY: Readonly<Record<string, string>> = {
  allow: "[{ delete: '*' }]",
  owner: "other",
  account: "other",
  environments: "{ production: { variables: { env: evil } } }",
  variables: "{ env: { default: evil } }",
  files: "['*.yaml']",
};

const VPC = "vpcs: [{ label: a, region: us-east }]\n";

test("consent, owner, account, environments, variables and files in a further file are refused", async () => {
  for (const [key, value] of Object.entries(ROOT_ONLY)) {
    const files = {
      "tenon.yaml": "tenon: 1\nfiles: [more/*.yaml]\n",
      "more/a.yaml": `tenon: 1\n${key}: ${value}\n${VPC}`,
    };
    expect([key, codes(await loadFiles(files))]).toEqual([key, ["root-only-key"]]);
  }
  const cwd = await folder({
    "tenon.yaml": "tenon: 1\nfiles: [a.yaml]\n",
    "a.yaml": `tenon: 1\nallow: [{ delete: "*" }]\n`,
  });
  await refuse(cwd, ["error[root-only-key]: `allow` belongs into the root file"], { args: ["apply", "--yes"] });
});

test("a glob or a link to the root file loads it only once, and a copy of it gives no consent", async () => {
  const text = `tenon: 1\nowner: edge\nfiles: ["**"]\nallow: [{ delete: vpc/old }]\n${VPC}`;
  const root = written({ "tenon.yaml": text });
  await link(root, "again.yaml", "tenon.yaml");
  const result = await load(root);
  expect(codes(result)).toEqual([]);
  expect(result.project?.desired.declared).toHaveLength(1);
  expect(result.project?.desired.allow).toHaveLength(1);
  expect(codes(await loadFiles({ "tenon.yaml": text, "sub/tenon.yaml": text }))).toContain("root-only-key");
});

test("consent comes through no alias of another file, no merge key, no variable of the environment and no extra key", async () => {
  const further = {
    "tenon.yaml": "tenon: 1\nfiles: [a.yaml]\nallow: *consent\n",
    "a.yaml": `tenon: 1\nx-a: &consent [{ delete: "*" }]\n`,
  };
  expect((await loadFiles(further)).project).toBeNull();
  for (const text of [
    'x-a: &a { allow: [{ delete: "*" }] }\n<<: *a\n',
    'defaults: { allow: [{ delete: "*" }] }\n',
    'record_sets: { allow: [{ delete: "*" }] }\n',
    'environments: { a: { allow: [{ delete: "*" }] } }\n',
    'vpcs: [{ label: a, region: us-east, allow: [{ delete: "*" }] }]\n',
    'allow: "${var.consent}"\n',
    'allow: [{ delete: "*", replace: "*" }]\n',
    'allow: [{ everything: "*" }]\n',
  ]) {
    expect([text, (await loadText(text)).project]).toEqual([text, null]);
  }
  // What begins with x- is the project's own, and no consent whatever it says.
  const own = await loadText('x-allow: [{ delete: "*" }]\n');
  expect(own.project?.desired.allow).toEqual([]);
});

test("no key may contain escapes, which would hide it from readers and searches", async () => {
  const consent = '[{ delete: "*", reason: r }]';
  const escaped = ['"\\u0061llow"', '"al\\x6cow"', '"all\\U0000006Fw"', '? "al\\\n  low"\n', '? "\\u0061llow"\n'];
  for (const key of escaped) {
    const cwd = await folder({ "tenon.yaml": `tenon: 1\n${key}: ${consent}\n` });
    expect([key, codes(await load(cwd))]).toEqual([key, ["escaped-key"]]);
  }
  for (const key of ["allow", '"allow"', "'allow'"]) {
    expect(codes(await load(await folder({ "tenon.yaml": `tenon: 1\n${key}: ${consent}\n` })))).toEqual([]);
  }
});

test("a removal by id must use the live name of the object, so that the diff shows what is deleted", async () => {
  const service = await emulator({
    seed: { vpcs: [{ id: 105, label: "payroll", region: "us-east" }], domains: [{ id: 7, domain: "kept.example" }] },
  } as never);
  for (const entry of ["{ vpc: harmless, id: 105 }", "{ domain: harmless.example, id: 7 }"]) {
    const cwd = await folder({ "tenon.yaml": `tenon: 1\nremoved: [${entry}]\n` });
    const ended = await run(["apply", "--yes", "--allow", "delete=*"], { cwd, env: envOf(service) });
    expect([entry, ended.code, ended.stderr]).toEqual([entry, 4, expect.stringContaining("[removed-other-name]")]);
  }
  expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
});

test("an entry of a further file takes no protected object by its id, and no consent by another name", async () => {
  const service = await emulator();
  const env = envOf(service);
  const subnets = "[{ label: a, ipv4: 10.0.1.0/24 }, { label: b, ipv4: 10.0.2.0/24 }]";
  const kept = `- { label: prod, region: us-east, protect: true, subnets: ${subnets} }`;
  const free = "- { label: other, region: us-east }";
  const root = `tenon: 1\nowner: me\nfiles: [more.yaml]\nallow: [{ replace: "vpc/test-*" }, { bulk: "vpc/test-*" }]\nvpcs:\n  ${kept}\n`;
  const more = (text: string): string => `tenon: 1\nvpcs:\n  ${text}\n`;
  const cwd = await folder({ "tenon.yaml": root, "more.yaml": more(free) });
  expect((await run(["apply", "--yes"], { cwd, env })).code).toBe(0);
  const headers = { authorization: "Bearer emulator-token" };
  const vpcs = async () =>
    (await (await fetch(`${service.baseUrl}/vpcs`, { headers })).json()) as { data: { id: number; label: string }[] };
  const before = await vpcs();
  const id = before.data.find(({ label }) => label === "prod")?.id;
  const attempts = [
    [`- { label: scratch, id: ${id}, region: us-east, subnets: [] }`, "vpc/prod is protected"],
    [`- { label: test-x, id: ${id}, region: eu-west }`, "vpc/prod is protected"],
    ["- { label: test-x, moved_from: other, region: eu-west }", "--allow replace=vpc/other"],
  ] as const;
  for (const [entry, word] of attempts) {
    await writeFile(join(cwd, "more.yaml"), more(entry));
    const ended = await run(["apply", "--yes"], { cwd, env });
    expect([entry, ended.code, ended.stdout + ended.stderr]).toEqual([entry, 4, expect.stringContaining(word)]);
    expect(await vpcs()).toEqual(before);
  }
});

test("a run that is narrowed needs the consent that a whole one needs, and spares what is excluded by its former name", async () => {
  const service = await emulator();
  const manifest = (vpc: string) => `tenon: 1\nowner: edge\nvpcs: [{ ${vpc}, region: us-east, subnets: [`;
  const subnets = [0, 1, 2, 3, 4, 5].map((index) => `{ label: s${index}, ipv4: 10.0.${index}.0/24 }`).join(", ");
  const cwd = await folder({ "tenon.yaml": `${manifest("label: before")}${subnets}] }]\n` });
  const tenon = (...args: readonly string[]) => run(args, { cwd, env: envOf(service) });
  expect((await tenon("apply", "--yes")).code).toBe(0);
  await writeFile(join(cwd, "tenon.yaml"), `${manifest("label: after, moved_from: before")}] }]\n`);
  service.clearRequests();
  const narrowed = [
    ["--target", "vpc/*/subnet/*"],
    ["--target", "vpc/after/*"],
    ["--exclude", "vpc/before/subnet/s0"],
    ["--exclude", "vpc/after/subnet/s0"],
    ["--target", "vpc/after/subnet/s1"],
    [],
  ];
  for (const args of narrowed) {
    const { code, stdout, stderr } = await tenon("apply", "--yes", ...args);
    expect([args, code, stdout + stderr]).toEqual([args, 4, expect.stringContaining("--allow bulk=vpc/before")]);
  }
  expect((await tenon("apply", "--yes", "--exclude", "vpc/before")).stdout).toContain("No changes within the targets.");
  expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  // What it is in gets its name with it.
  const { code, stdout } = await tenon(
    "apply",
    "--yes",
    "--target",
    "vpc/after/subnet/s1",
    "--allow",
    "bulk=vpc/before",
  );
  expect([code, stdout]).toEqual([0, expect.stringContaining("~ vpc after (rename)")]);
});

test("a domain is identified by its name: the id of another domain is refused, and that domain stays unchanged", async () => {
  const records = [{ type: "A", name: "www", target: "192.0.2.1" }] as const;
  const bank = { id: 77, domain: "bank.example", type: "master", soa_email: "a@bank.example", records } as const;
  const service = await emulator({ seed: { domains: [bank] } });
  const theirs = (owner: string) => `tenon: 1
${owner}domains:
  - { domain: old-bank.example, id: 77, type: master, soa_email: a@bank.example, records: [{ type: A, name: www, target: 203.0.113.66 }] }
`;
  for (const owner of ["", "owner: edge\n"]) {
    const cwd = await folder({ "tenon.yaml": theirs(owner) });
    for (const more of [[], ["--exclude", "domain/bank.example"], ["--target", "domain/old-bank.example/*"]]) {
      const { code } = await run(["apply", "--yes", ...more], { cwd, env: envOf(service) });
      expect([owner, more, code !== 0]).toEqual([owner, more, true]);
    }
  }
  expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  // Where the refused entry is excluded, the zone is still its own entry's: it is there, and not to be made.
  const own =
    "- { domain: bank.example, type: master, soa_email: a@bank.example, records: [{ type: A, name: www, target: 192.0.2.1 }] }";
  const cwd = await folder({ "tenon.yaml": `${theirs("")}  ${own}\n` });
  const narrowed = await run(["plan", "--exclude", "domain/old-bank.example"], { cwd, env: envOf(service) });
  expect([narrowed.code, narrowed.stdout]).toEqual([0, expect.stringContaining("No changes within the targets.")]);
});

test("the environment is chosen on the command line, never by the project", async () => {
  const environments =
    "variables: { env: { default: safe } }\nenvironments: { production: { variables: { env: evil } } }\n";
  const vpcs = 'vpcs: [{ label: "${var.env}", region: us-east }]\n';
  for (const line of ["env: production\n", "environment: production\n", "default_environment: production\n"]) {
    expect([line, codes(await loadText(line + environments + vpcs))]).toEqual([line, ["unknown-key"]]);
  }
  const cwd = await folder({ "tenon.yaml": `tenon: 1\n${environments}${vpcs}`, ".env": "TENON_ENV=production\n" });
  const env = { ...envOf(await emulator()), TENON_ENV: "production", ENV: "production" };
  expect((await run(["plan"], { cwd, env })).stdout).toContain("vpc safe");
});

test("consent that has expired does not count, and the project does not choose the clock", async () => {
  const service = await emulator({
    seed: { vpcs: [{ label: "old", region: "us-east", description: "x [tenon:edge]" }] } as never,
  });
  const manifest = "tenon: 1\nowner: edge\nallow: [{ delete: vpc/old, until: 2020-01-01 }]\n";
  const result = await run(["apply", "--yes"], { cwd: await folder({ "tenon.yaml": manifest }), env: envOf(service) });
  expect(result.code).toBe(4);
  expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
});

test("a change that the base blocks or refuses counts as this change's if the project sets it free", async () => {
  const owned = (label: string, id: number) => ({ id, label, region: "us-east", description: "[tenon:edge]" });
  const service = await emulator({ seed: { vpcs: [owned("gone", 5), owned("kept", 6)] } as never });
  const head = "tenon: 1\nowner: edge\n";
  const kept = (rest: string) => `vpcs: [{ label: kept, region: ap-south${rest} }]\n`;
  const cwd = await folder({ "base/tenon.yaml": `${head}${kept(", protect: true")}` });
  const options = { cwd: join(cwd, "head"), env: envOf(service) };
  const origins = async (manifest: string, ...flags: string[]) => {
    await mkdir(options.cwd, { recursive: true });
    await writeFile(join(options.cwd, "tenon.yaml"), `${head}${manifest}`);
    const { stdout } = await run(["plan", "--format", "json", "--base", "../base", ...flags], options);
    const { tenon } = JSON.parse(stdout) as { tenon: { changes: Record<string, { origin: string | null }> } };
    return Object.entries(tenon.changes).map(([key, { origin }]) => `${key} ${origin}`);
  };
  const pending = ["vpc/gone already-pending", "vpc/kept already-pending"];
  expect(await origins(kept(", protect: true"))).toEqual(pending);
  expect(await origins(kept(""))).toEqual(["vpc/gone already-pending", "vpc/kept this-change"]);
  const removed = `${kept(", protect: true")}removed: [{ vpc: gone }]\n`;
  expect(await origins(removed)).toEqual(["vpc/gone this-change", "vpc/kept already-pending"]);
  const allowed = `${kept(", protect: true")}allow: [{ delete: vpc/gone, reason: x }]\n`;
  expect(await origins(allowed)).toEqual(["vpc/gone this-change", "vpc/kept already-pending"]);
  // Consent from the pipeline holds for both.
  expect(await origins(kept(", protect: true"), "--allow", "delete=vpc/gone")).toEqual(pending);
});

test("a rename that is done takes nobody else's object: not when its own is destroyed, and not when a replace was cut off", async () => {
  const theirs = { id: 103, label: "v1", region: "us-west", description: "another team's" };
  const ours = { id: 106, label: "v2", region: "us-east", description: "" };
  const destroying = await folder({
    "tenon.yaml": "tenon: 1\nvpcs: [{ label: v2, region: us-east, moved_from: v1 }]\n",
  });
  const service = await emulator({ seed: { vpcs: [theirs, ours] } });
  for (let round = 1; round <= 2; round += 1) {
    const { code } = await run(["destroy", "--yes"], { cwd: destroying, env: envOf(service) });
    expect(code).toBe(0);
  }
  const deleted = service.requests.filter(({ method }) => method === "DELETE").map(({ path }) => path);
  expect(deleted).toEqual(["/v4/vpcs/106"]);

  const replacing = await folder({
    "tenon.yaml": "tenon: 1\nowner: o1\nvpcs: [{ label: v2, region: us-west, description: ours, moved_from: v1 }]\n",
  });
  const half = await emulator({ seed: { vpcs: [theirs] } });
  const refused = await run(["apply", "--yes"], { cwd: replacing, env: envOf(half) });
  expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining("moved-from-untagged") });
  expect(half.requests.filter(({ method }) => method !== "GET")).toEqual([]);
});

test("consent to prune one of two objects of a label does not hold for the other one once the first is gone", async () => {
  const cwd = await folder({ "tenon.yaml": "tenon: 1\nowner: o1\nallow: [{ delete: vpc/old }]\n" });
  const old = (id: number) => ({ id, label: "old", region: "us-east", description: "[tenon:o1]" });
  const service = await emulator({ seed: { vpcs: [old(103), old(106)] } });
  const { code, stdout } = await run(["apply", "--yes"], { cwd, env: envOf(service) });
  expect(code).toBe(4);
  for (const id of [103, 106]) expect(stdout).toContain(`delete=vpc/old:${id}`);
  expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
});

test("consent to prune one of two objects of a label does not hold for an object whose label reads like the address of that one", async () => {
  const allow = "allow: [{ delete: 'image/golden:private%2F7' }, { delete: 'image/golden:private%2F8' }]";
  const cwd = await folder({ "tenon.yaml": `tenon: 1\nowner: o1\n${allow}\n` });
  const image = (id: number, label: string) => ({ id: `private/${id}`, label, description: "[tenon:o1]" });
  const seed = { images: [image(5, "golden:private/7"), image(7, "golden"), image(8, "golden")] };
  const service = await emulator({ seed });
  const refused = await run(["apply", "--yes"], { cwd, env: envOf(service) });
  expect([refused.code, refused.stdout]).toEqual([4, expect.stringContaining("golden%3Aprivate%2F7 would be")]);
  expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  const { code } = await run(["apply", "--yes", "--allow", "delete=image/*"], { cwd, env: envOf(service) });
  const deleted = service.requests.filter(({ method }) => method === "DELETE");
  expect([code, deleted.length]).toEqual([0, 3]);
});

const FAMILY = `tenon: 1
owner: edge
environments:
  staging: { variables: { env: staging, net: a } }
  production: { variables: { env: production, net: b } }
variables: { env: {}, net: {} }
files: [more.yaml]
images:
  - { label: "golden-\${var.env}-12", family: golden, keep: 1, capture: { disk_id: 7 } }
`;
const LIVE = {
  disks: [{ id: 7, label: "disk", size: 1024 }],
  images: [
    { id: "private/1", label: "golden-production-12", description: "[tenon:edge]", created: "2026-10-01T00:00:00" },
  ],
};

test("an image that another environment declares is not retired because a change has brought an error into that environment", async () => {
  // An error with `net: b` alone, in a file that fewer people review.
  const more =
    'tenon: 1\nvpcs: [{ label: "${var.net}", region: us-east, subnets: [{ label: b, ipv4: 10.0.0.0/24 }, { label: "${var.net}", ipv4: 10.1.0.0/24 }] }]\n';
  const service = await emulator({ seed: LIVE });
  const cwd = await folder({ "tenon.yaml": FAMILY, "more.yaml": more });
  const options = { cwd, env: envOf(service) };
  expect((await run(["validate", "--env", "production"], options)).code).toBe(3);
  for (const args of [["plan"], ["apply", "--yes"], ["apply", "--yes", "--allow", "delete=image/*"]]) {
    const { code, stderr } = await run([...args, "--env", "staging"], options);
    expect({ args, code }).toEqual({ args, code: 4 });
    expect(stderr.replace(/\s+/g, " ")).toContain(
      "error[retired-elsewhere]: image/golden-production-12 would be retired, and the environment `production` may declare it: the project has errors there",
    );
    expect(stderr).toContain("tenon validate --env production");
  }
  expect(service.requests.every(({ method }) => method === "GET")).toBe(true);
  const { code } = await run(["apply", "--yes", "--env", "staging", "--never-destroy"], options);
  expect(code).toBe(0);
  expect(service.requests.filter(({ method }) => method === "DELETE")).toEqual([]);
});

test("an image that another environment declares is not retired because a change has made the project too large to look there", async () => {
  // One text, used again and again, so that environments are looked at until their characters are used up.
  const records = Array.from(
    { length: 400 },
    (_, index) => `{ type: A, name: w${index}, target: 192.0.2.1, note: *n }`,
  );
  const domain = `{ domain: a.example, type: master, soa_email: a@a.example, records: [${records.join(", ")}] }`;
  const more = `tenon: 1\nx-n: &n "${"n".repeat(40_000)}"\ndomains: [${domain}]\n`;
  const others = ["qa1", "qa2", "qa3"].map((name) => `  ${name}: { variables: { env: ${name}, net: a } }\n`).join("");
  const service = await emulator({ seed: LIVE });
  const manifest = FAMILY.replace("  production:", `${others}  production:`);
  const cwd = await folder({ "tenon.yaml": manifest, "more.yaml": more });
  const { code, stderr } = await run(["apply", "--yes", "--env", "staging"], { cwd, env: envOf(service) });
  expect([code, stderr.replace(/\s+/g, " ")]).toEqual([4, expect.stringContaining("or is too large to be looked at")]);
  expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
});

test("an image that another environment declares is not retired, however many environments stand between the two", async () => {
  const others = Array.from({ length: 40 }, (_, index) => `  e${index}: { variables: { env: e${index}, net: a } }\n`);
  const service = await emulator({ seed: LIVE });
  const manifest = FAMILY.replace("  production:", `${others.join("")}  production:`);
  const cwd = await folder({ "tenon.yaml": manifest, "more.yaml": "tenon: 1\n" });
  const { code, stderr } = await run(["apply", "--yes", "--env", "staging"], { cwd, env: envOf(service) });
  expect([code, stderr.replace(/\s+/g, " ")]).toEqual([
    4,
    expect.stringContaining("environment `production` declares it"),
  ]);
  expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
});

test("a program that opens the project retires no image that another environment declares", async () => {
  const service = await emulator({ seed: LIVE });
  const dir = await folder({ "tenon.yaml": FAMILY, "more.yaml": "tenon: 1\n" });
  const project = await open({ dir, env: "staging", baseUrl: service.baseUrl, token: "emulator-token" });
  onTestFinished(() => project.close());
  expect((await project.plan()).refusals.map(({ code }) => code)).toEqual(["retired-elsewhere"]);
  const error = await project.apply().catch((reason: unknown) => reason);
  expect(error instanceof TenonError && error.diagnostics.map(({ code }) => code)).toEqual(["retired-elsewhere"]);
  expect(service.requests.every(({ method }) => method === "GET")).toBe(true);
  expect((await project.drift()).summary).toMatchObject({ missing: 1 });
});

test("an entry of removed that names nothing stands in the plan of the change that brings it, as what gets the name later would go", async () => {
  const zone = "domains: [{ domain: keep.example, type: master, soa_email: a@example.com, records: [] }]\n";
  const removed =
    'removed: [{ domain: shop.example }, { vpc: shop }, { image: x, id: "private/9" }, { vpc: y, destroy: false }]\n';
  const root = "tenon: 1\nowner: edge\nfiles: [z.yaml]\n";
  const place = await folder({
    ...{ "main/tenon.yaml": root, "main/z.yaml": `tenon: 1\n${zone}` },
    ...{ "head/tenon.yaml": root, "head/z.yaml": `tenon: 1\n${zone}${removed}` },
  });
  const service = await emulator({ seed: { vpcs: [{ label: "other", region: "us-east" }] } });
  const options = { cwd: join(place, "head"), env: envOf(service) };
  for (const more of [[], ["--base", "../main"], ["--changed-since", "../main"], ["--format", "markdown"]]) {
    const { code, stdout } = await run(["plan", ...more], options);
    const named = [...stdout.matchAll(/`removed` names (\S+), which is not there/g)].map(([, name]) => name);
    expect([more, code, named.toSorted()]).toEqual([more, 0, ["domain/shop.example", "vpc/shop"]]);
  }
  // What a narrowed run has not read is not said to be missing.
  await writeFile(join(place, "head/z.yaml"), `tenon: 1\n${zone}removed: [{ vpc: other }]\n`);
  const { stdout } = await run(["plan", "--target", "domain/keep.example"], options);
  expect(stdout).not.toContain("which is not there");
});

test("what a whole plan would lose needs its consent also in runs that are narrowed to one part of it after the other", async () => {
  const names = Array.from({ length: 40 }, (_, index) => `n${index}`);
  const records = names.map((name) => ({ type: "A" as const, name, target: "192.0.2.1", ttl_sec: 300 }));
  const subnets = [1, 2, 3, 4].map((number) => ({ label: `s${number}`, ipv4: `10.0.${number}.0/24` }));
  const owned = { type: "master", soa_email: "a@a.example" } as const;
  const seed = {
    domains: [{ domain: "a.example", ...owned, tags: ["tenon:edge"], records }],
    vpcs: [{ label: "prod", region: "us-east", description: "[tenon:edge]", subnets }],
  };
  const kept = (count: number) => JSON.stringify(records.slice(0, count));
  const manifest = `tenon: 1
owner: edge
vpcs: [{ label: prod, region: us-east, subnets: [{ label: s1, ipv4: 10.0.1.0/24 }] }]
domains:
  - { domain: a.example, type: master, soa_email: a@a.example, records: ${kept(10)} }
`;
  const service = await emulator({ seed });
  const options = { cwd: await folder({ "tenon.yaml": manifest }), env: envOf(service) };
  for (const [rule, ...flags] of [
    ["bulk=domain/a.example", "--target", "domain/a.example/n39/A"],
    [
      "bulk=domain/a.example",
      "--target",
      "domain/a.example",
      ...names.slice(11).flatMap((name) => ["--exclude", `*/${name}/A`]),
    ],
    ["bulk=vpc/prod", "--target", "vpc/prod/subnet/s4"],
  ] as const) {
    const { code, stdout } = await run(["apply", "--yes", ...flags], options);
    expect([flags, code]).toEqual([flags, 4]);
    expect(stdout.replace(/\s+/g, " ")).toMatch(/ a whole run would remove .*, and this one removes 1 /);
    expect(stdout).toContain(`--allow ${rule}`);
    expect((await run(["apply", "--yes", ...flags, "--allow", rule], options)).code).toBe(0);
  }
  expect(service.requests.filter(({ method }) => method === "DELETE")).toHaveLength(3);
  expect((await run(["apply", "--yes", "--target", "domain/a.example/n1/A"], options)).code).toBe(0);
  // Where nothing may be deleted there is nothing to agree to.
  const kept1 = await run(["apply", "--yes", "--never-destroy", "--target", "domain/a.example"], options);
  expect(kept1.code).toBe(0);
  // Nor does a run that adopts a domain, and leaves out what is in it, spare the next one the consent of an adoption.
  const foreign = { domain: "a.example", ...owned, records: records.slice(0, 4) };
  const adopting = await emulator({ seed: { domains: [foreign] } });
  const adopt = {
    cwd: await folder({ "tenon.yaml": manifest.replace(/^vpcs.*\n/m, "").replace(kept(10), kept(1)) }),
    env: envOf(adopting),
  };
  const { code, stdout } = await run(["apply", "--yes", "--exclude", "domain/a.example/*"], adopt);
  expect([code, stdout]).toEqual([4, expect.stringContaining("--allow bulk=domain/a.example")]);
});

test("five thousand patterns of consents are compared with thousands of objects up to a limit, and the others need a consent without a star", () => {
  const OBJECTS = 20_000;
  const last = `vpc/${"a".repeat(60)}${OBJECTS - 1}`;
  const values = { label: "a", region: "us-east" };
  const changes = Array.from({ length: OBJECTS }, (_, index) =>
    change({ address: `vpc/${"a".repeat(60)}${index}`, action: "delete", before: values, labels: ["prune"] }),
  );
  const consent = (address: string) => ({ rule: "delete" as const, address, until: null, reason: null, span: null });
  const consents = [consent(last), ...Array.from({ length: 4_999 }, (_, index) => consent(`*a*a*${index}b*`))];
  const policy = { goal: "apply" as const, owner: "edge", today: "2026-01-01", consents, maxChanges: null };
  const kept = { addresses: new Set<string>(), takenFromProtected: new Map<string, string>() };
  const { guards, warnings } = guardsOf(changes, { changes, withRemovals: changes }, kept, units, policy);
  expect(guards.filter(({ consent: state }) => state === "given").map(({ address }) => address)).toEqual([last]);
  expect(warnings.map(({ code, summary }) => [code, summary])).toEqual([
    ["consents-not-compared", expect.stringMatching(/^1\d,\d{3} of the objects that need a consent were not compared/)],
  ]);
  expect(guardsOf(changes.slice(0, 100), { changes: [], withRemovals: [] }, kept, units, policy).warnings).toEqual([]);
});
