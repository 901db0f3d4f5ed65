import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { here as run } from "../cli/here.ts";
import { emulator, envOf, folder } from "../cli/run.ts";
import { tested } from "../support/emulator.ts";

const RECORDS = [
  { type: "A" as const, name: "www", target: "192.0.2.1" },
  { type: "A" as const, name: "shop", target: "192.0.2.2" },
];

function domain(name: string, tags: readonly string[]) {
  return { domain: name, soa_email: "a@a.example", tags, records: RECORDS };
}

test("a part of a domain whose tags do not say exactly that it is shared with this project is refused, and nothing is sent", async () => {
  const near = [
    "tenon-part:shop-team",
    "tenon-part:sho",
    "tenon-part:",
    "tenon-part: shop",
    "xtenon-part:shop",
    "shop",
  ];
  const service = await emulator({
    seed: { domains: near.map((tag, index) => domain(`d${index}.example`, ["tenon:edge", `${tag}`])) },
  });
  const names = near.map((_, index) => `d${index}.example`).join(", ");
  const part = `part: { names: ["*"] }, records: []`;
  const cwd = await folder({ "tenon.yaml": `tenon: 1\nowner: shop\ndomains: [{ domain: [${names}], ${part} }]\n` });
  const args = ["apply", "--yes", "--allow", "bulk=*", "--take-ownership-from", "edge"];
  const { code, stderr } = await run(args, { cwd, env: envOf(service) });
  expect(code).toBe(4);
  expect(stderr.match(/error\[not-shared\]/g)).toHaveLength(near.length);
  expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
});

test("a part changes nothing of the domain itself and no record outside its names, whatever its manifest and the command line say", async () => {
  const service = await emulator({ seed: { domains: [domain("a.example", ["tenon:edge", "tenon-part:shop"])] } });
  const env = envOf(service);
  const entry = (more: string): string =>
    `tenon: 1\nowner: shop\ndefaults: { domain: { type: slave, master_ips: [192.0.2.53], tags: [mine], status: disabled } }\ndomains: [{ domain: a.example, part: { names: [shop] }${more} }]\n`;
  for (const more of [
    ", records: [], status: disabled",
    ", records: [{ type: A, name: www, target: 192.0.2.9 }]",
    ', records: [{ type: A, name: "www.a.example.", target: 192.0.2.9 }]',
    ", records: [{ type: SRV, name: www, service: sip, protocol: tcp, target: ., port: 1, priority: 1, weight: 1 }]",
  ]) {
    const cwd = await folder({ "tenon.yaml": entry(more) });
    expect([more, (await run(["apply", "--yes"], { cwd, env })).code]).toEqual([more, 3]);
  }
  const cwd = await folder({ "tenon.yaml": entry(", records: []") });
  const all = ["--yes", "--allow", "bulk=*", "--allow", "delete=*", "--take-ownership-from", "edge"];
  expect((await run(["apply", ...all], { cwd, env })).code).toBe(0);
  expect((await run(["destroy", "--yes"], { cwd, env })).code).toBe(0);
  const written = service.requests.filter(({ method }) => method !== "GET");
  expect(written.map(({ method, path }) => `${method} ${path.replace(/\/\d+/g, "/N")}`)).toEqual([
    "DELETE /v4/domains/N/records/N",
  ]);
});

test("a sharing that ends while the records of others are left alone needs the consent that their removal needs, so that no second run removes them without", async () => {
  const own = { type: "A" as const, name: "www", target: "192.0.2.1", ttl_sec: 300 };
  const others = Array.from({ length: 2 }, (_, index) => ({ ...own, name: `s${index}.shop` }));
  const more = Array.from({ length: 30 }, (_, index) => ({ ...own, name: `w${index}` }));
  const shared = { ...domain("a.example", ["tenon:edge", "tenon-part:shop"]), records: [own, ...more, ...others] };
  const entry = (keys: string, records: readonly object[]) =>
    `tenon: 1\nowner: edge\ndomains: [{ domain: a.example, type: master, soa_email: a@a.example${keys}, records: ${JSON.stringify(records)} }]\n`;
  const declared = [own, ...more];
  for (const [keys, ...args] of [
    [""],
    [', ignore: [{ name: "*.shop" }]'],
    [", records_policy: additive"],
    ["", "--never-destroy"],
    ["", "--exclude", "domain/a.example/*.shop/A"],
    [", shared_with: [{ owner: other, names: [zzz] }]", "--never-destroy"],
    [', shared_with: [{ owner: other, names: ["*.shop"] }]'],
  ]) {
    const service = await emulator({ seed: { domains: [shared] } });
    const cwd = await folder({ "tenon.yaml": entry(keys ?? "", declared) });
    const { code, stdout } = await run(["apply", "--yes", ...args], { cwd, env: envOf(service) });
    expect([keys, args, code]).toEqual([keys, args, 4]);
    expect(stdout).toContain("--allow bulk=domain/a.example");
    expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  }
  // Nor is it known what a zone holds whose records are not managed, as they are no more, or as it becomes a slave.
  const unmanaged = entry("", []).replace(", records: []", "");
  const slave = unmanaged.replace("type: master", "type: slave, master_ips: [192.0.2.53]");
  for (const manifest of [unmanaged, slave]) {
    const service = await emulator({ seed: { domains: [shared] } });
    const cwd = await folder({ "tenon.yaml": manifest });
    const { code, stdout } = await run(["apply", "--yes"], { cwd, env: envOf(service) });
    expect([manifest, code]).toEqual([manifest, 4]);
    expect(stdout).toContain("--allow bulk=domain/a.example");
  }
  // A run that leaves the sharing as it is needs none.
  for (const args of [
    ["--exclude", "domain/a.example"],
    ["--target", "domain/a.example/www/A"],
  ]) {
    const service = await emulator({ seed: { domains: [shared] } });
    const cwd = await folder({ "tenon.yaml": entry("", declared) });
    expect([args, (await run(["apply", "--yes", ...args], { cwd, env: envOf(service) })).code]).toEqual([args, 0]);
  }
  // With what was theirs declared here, nothing is left to lose.
  const service = await emulator({ seed: { domains: [shared] } });
  const cwd = await folder({ "tenon.yaml": entry("", [...declared, ...others]) });
  const { code } = await run(["apply", "--yes"], { cwd, env: envOf(service) });
  expect([code, service.requests.filter(({ method }) => method === "DELETE")]).toEqual([0, []]);
  // What is in the names of another project now may have been made by the one that goes: names are in no tag.
  const two = { ...shared, tags: [...shared.tags, "tenon-part:gone"] };
  const stays = entry(', shared_with: [{ owner: shop, names: ["*.shop"] }]', declared);
  const env = envOf(await emulator({ seed: { domains: [two] } }));
  const options = { cwd: await folder({ "tenon.yaml": stays }), env };
  expect((await run(["apply", "--yes"], options)).code).toBe(4);
});

test("a sharing that ends while other values are declared under the names of others needs the consent that their removal needs", async () => {
  const manifest = (records: string): string =>
    `tenon: 1\nowner: edge\ndomains: [{ domain: a.example, type: master, soa_email: a@a.example, records: [${records}] }]\n`;
  const [www, shop] = ["{ type: A, name: www, target: 192.0.2.1 }", "{ type: A, name: shop, target: 192.0.2.2 }"];
  for (const [records, args, code] of [
    [`${www}, { type: A, name: shop, target: 198.51.100.66 }`, [], 4],
    [`${www}, { type: A, name: other, target: 192.0.2.2 }`, [], 4],
    [`${www}, { type: A, name: shop, target: 198.51.100.66 }`, ["--exclude", "domain/a.example/*"], 4],
    [`${www}, ${shop.replace(" }", ", ttl_sec: 300 }")}`, [], 0],
    [`${www}, ${shop}`, [], 0],
    [`${www}, { type: A, name: shop, target: 198.51.100.66 }`, ["--allow", "bulk=domain/a.example"], 0],
  ] as const) {
    const service = await emulator({ seed: { domains: [domain("a.example", ["tenon:edge", "tenon-part:shop"])] } });
    const cwd = await folder({ "tenon.yaml": manifest(records) });
    const ended = await run(["apply", "--yes", ...args], { cwd, env: envOf(service) });
    expect([records, ended.code]).toEqual([records, code]);
    if (code === 0) continue;
    expect(ended.stdout + ended.stderr).toContain("bulk=domain/a.example");
    expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  }
});

test("an undo of the run that has shared a zone needs the consent, too, while records are in the part, whatever else the run did", async () => {
  const records = [1, 2, 3].map((last) => ({
    type: "A" as const,
    name: `n${last}`,
    target: `192.0.2.${last}`,
    ttl_sec: 300,
  }));
  const theirs = { type: "A" as const, name: "shop", target: "192.0.2.50", ttl_sec: 300 };
  const manifest = (keys: string, list: readonly object[]) =>
    `tenon: 1\nowner: edge\ndomains: [{ domain: a.example, type: master, soa_email: a@a.example, records: ${JSON.stringify(list)}${keys} }]\n`;
  const sharing = ", shared_with: [{ owner: shop, names: [shop] }]";
  for (const changed of [records, [{ ...records[0], target: "192.0.2.9" }, ...records.slice(1)]]) {
    const service = await emulator({
      seed: { domains: [{ id: 1, ...domain("a.example", ["tenon:edge"]), records }] },
    });
    const options = { cwd: await folder({ "tenon.yaml": manifest(sharing, changed) }), env: envOf(service) };
    expect((await run(["apply", "--yes", "--journal", "run.jsonl"], options)).code).toBe(0);
    const { send } = tested(service);
    await send("POST", "/domains/1/records", theirs);
    await writeFile(join(options.cwd, "tenon.yaml"), manifest("", records));
    const { code, stdout } = await run(["apply", "--undo", "run.jsonl", "--yes"], options);
    expect([code, stdout]).toEqual([4, expect.stringContaining("--allow bulk=domain/a.example")]);
  }
});
