/** Consents for what a run leaves out: narrowed, or with --never-destroy, it takes none of them away from the next one. */

import { expect, test } from "vitest";
import { guardsOf } from "../../src/plan/guards.ts";
import { units } from "../../src/units/index.ts";
import { here as run } from "../cli/here.ts";
import { emulator, envOf, folder } from "../cli/run.ts";
import { change, record } from "../plan/changes.ts";

test("a run that leaves deletions out is asked for what the whole run would remove, once it removes anything itself", async () => {
  const ten = Array.from({ length: 10 }, (_, index) => `192.0.2.${index}`);
  const live = ten.map((target, index) => ({ type: "A", name: `n${index}`, target }));
  const zone = { domain: "s.example", soa_email: "h@s.example", tags: ["tenon:me"], records: live };
  const manifest = (names: readonly string[]): string => {
    const records = names.map((name, index) => `{ type: A, name: ${name}, target: ${ten[index]} }`).join(", ");
    return `tenon: 1\nowner: me\ndomains: [{ domain: s.example, type: master, soa_email: h@s.example, records: [${records}] }]\n`;
  };
  const renamed = manifest(["r0", "r1", "r2", "n3", "n4", "n5", "n6"]);
  const fewer = manifest(["n0", "n1", "n2", "n3"]);
  for (const [text, args, code] of [
    [renamed, [], 4],
    [renamed, ["--never-destroy"], 4],
    [renamed, ["--never-destroy", "--allow", "bulk=domain/s.example"], 0],
    // What removes nothing itself is asked for nothing.
    [fewer, ["--never-destroy"], 0],
  ] as const) {
    const service = await emulator({ seed: { domains: [zone] } as never });
    const cwd = await folder({ "tenon.yaml": text });
    const ended = await run(["apply", "--yes", ...args], { cwd, env: envOf(service) });
    expect([text, args, ended.code]).toEqual([text, args, code]);
    if (code === 4) expect(ended.stdout + ended.stderr).toContain("6 of the 10 records of domain/s.example");
  }
});

test("what is left out needs its consent before additions make it few of many", async () => {
  const names = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}${index}`);
  const record = (name: string, target = "192.0.2.1") => ({ type: "A", name, target });
  const zone = {
    domain: "s.example",
    soa_email: "h@s.example",
    tags: ["tenon:me"],
    records: names("old", 12).map((name) => record(name)),
  };
  const subnets = (name: string, count: number, from: number) =>
    names(name, count).map((label, index) => ({ label, ipv4: `10.0.${from + index}.0/24` }));
  const vpc = { label: "net", region: "us-east", description: "[tenon:me]", subnets: subnets("old", 3, 0) };
  const manifest = (added: number): string => {
    const domain = { domain: zone.domain, type: "master", soa_email: zone.soa_email };
    const records = names("new", added).map((name) => record(name, "192.0.2.2"));
    const net = { label: "net", region: "us-east", subnets: subnets("new", added, 100) };
    return JSON.stringify({ tenon: 1, owner: "me", domains: [{ ...domain, records }], vpcs: [net] });
  };
  for (const [added, args, code] of [
    [60, [], 4],
    [60, ["--never-destroy"], 4],
    [60, ["--target", "domain/s.example/new*", "--target", "vpc/net/subnet/new*"], 4],
    [60, ["--exclude", "**/old*"], 4],
    [60, ["--never-destroy", "--allow", "bulk=domain/s.example", "--allow", "bulk=vpc/net"], 0],
    // They are still many of all: what goes later needs its consent then.
    [2, ["--never-destroy"], 0],
    [2, [], 4],
  ] as const) {
    const service = await emulator({ seed: { domains: [zone], vpcs: [vpc] } as never });
    const cwd = await folder({ "tenon.yaml": manifest(added) });
    const ended = await run(["apply", "--yes", ...args], { cwd, env: envOf(service) });
    expect([added, args, ended.code]).toEqual([added, args, code]);
    if (code === 0) continue;
    const said = (ended.stdout + ended.stderr).replace(/\s+/g, " ");
    expect(said).toContain("bulk=vpc/net");
    const removed = "12 of the 12 records of domain/s.example";
    const few = `a whole run would remove ${removed}, which beside what this one adds would be few of many`;
    expect(said).toContain(args.length === 0 ? `${removed} would be removed` : few);
    expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  }
});

test("an adoption that leaves deletions out, and adds so much that they would be few of many, needs the consent of any other zone", async () => {
  const names = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}${index}`);
  const record = (name: string, type = "A") => ({ type, name, target: "192.0.2.1" });
  const live = names("n", 10).map((name) => record(name));
  const subnets = names("s", 7).map((label, index) => ({ label, ipv4: `10.0.${index}.0/24` }));
  const more = names("t", 4).map((label, index) => ({ label, ipv4: `10.1.${index}.0/24` }));
  const seed = {
    domains: [{ domain: "s.example", soa_email: "h@s.example", records: live }],
    vpcs: [{ label: "net", region: "us-east", subnets }],
  };
  for (const [kept, keptSubnets, args, code] of [
    [6, 4, [], 4],
    [6, 4, ["--never-destroy"], 4],
    [6, 4, ["--never-destroy", "--allow", "bulk=domain/s.example", "--allow", "bulk=vpc/net"], 0],
    // Few of many already: the adoption alone asks for them, in its own run.
    [9, 6, ["--never-destroy"], 0],
  ] as const) {
    const records = [...live.slice(0, kept), ...names("m", 5).map((name) => record(name, "TXT"))];
    const domain = { domain: "s.example", type: "master", soa_email: "h@s.example", records };
    const vpc = { label: "net", region: "us-east", subnets: [...subnets.slice(0, keptSubnets), ...more] };
    const service = await emulator({ seed: seed as never });
    const cwd = await folder({
      "tenon.yaml": JSON.stringify({ tenon: 1, owner: "me", domains: [domain], vpcs: [vpc] }),
    });
    const ended = await run(["apply", "--yes", ...args], { cwd, env: envOf(service) });
    expect([kept, args, ended.code]).toEqual([kept, args, code]);
    if (code === 0) continue;
    for (const address of ["domain/s.example", "vpc/net"]) expect(ended.stdout).toContain(`--allow bulk=${address}`);
    expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  }
});

test("names that keep a value in a run need their consent before a later one takes that value", async () => {
  const record = (name: string, last: number) => ({ type: "A", name, target: `192.0.2.${last}` });
  const live = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((last) => record(`h${Math.ceil(last / 3)}`, last));
  const zone = {
    domain: "s.example",
    soa_email: "h@s.example",
    tags: ["tenon:me"],
    records: [...live, record("keep", 99)],
  };
  // Of three values of each name two get another name, and the last one goes.
  const renamed = live.flatMap(({ target }, index) =>
    index % 3 === 2 ? [] : [{ type: "A", name: `new${index}`, target }],
  );
  for (const [records, args, code] of [
    [renamed, [], 4],
    [renamed, ["--never-destroy"], 4],
    [renamed, ["--target", "domain/s.example/new*/A"], 4],
    [renamed, ["--target", "domain/s.example/new*/A", "--allow", "bulk=domain/s.example"], 0],
  ] as const) {
    const service = await emulator({ seed: { domains: [zone] } as never });
    const domain = { domain: "s.example", type: "master", soa_email: zone.soa_email };
    const all = [...records, record("keep", 99)];
    const manifest = { tenon: 1, owner: "me", domains: [{ ...domain, records: all }] };
    const cwd = await folder({ "tenon.yaml": JSON.stringify(manifest) });
    const ended = await run(["apply", "--yes", ...args], { cwd, env: envOf(service) });
    expect([records.length, args, ended.code]).toEqual([records.length, args, code]);
    if (code === 0) continue;
    expect(ended.stdout.replace(/\s+/g, " ")).toContain("9 of the 10 records of domain/s.example");
    expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  }
});

test("values that a run takes of names that keep others count towards what a later one takes", () => {
  const values = (name: string, last: number) => ({ type: "A", name, target: `192.0.2.${last}` });
  const one = (name: string, last: number, action: "delete" | "no-op") => {
    const before = values(name, last);
    return { ...record(name, action, { before, after: action === "delete" ? null : before }), id: last };
  };
  const root = change({ address: "domain/a.example", action: "no-op", before: { status: "active", owner: "edge" } });
  const kept = Array.from({ length: 9 }, (_, index) => one(`keep${index}`, 100 + index, "no-op"));
  // Of nine records at three names this run takes two of each, and the next one the last of each: 3 of 12.
  const goes = (last: number) => one(`h${Math.ceil(last / 3)}`, last, "delete");
  const stays = (last: number) => one(`h${Math.ceil(last / 3)}`, last, "no-op");
  const all = [1, 2, 3, 4, 5, 6, 7, 8, 9];
  const whole = [root, ...kept, ...all.map(goes)];
  const own = [root, ...kept, ...all.map((last) => (last % 3 === 0 ? stays(last) : goes(last)))];
  const policy = { goal: "apply" as const, owner: "edge", today: "2026-01-01", consents: [], maxChanges: null };
  const protection = { addresses: new Set<string>(), takenFromProtected: new Map<string, string>() };
  const guardsFor = (withRemovals: typeof whole) =>
    guardsOf(own, { changes: own, withRemovals }, protection, units, policy).guards.map(({ rule, count, of }) => [
      rule,
      count,
      of,
    ]);
  expect(guardsFor(whole)).toEqual([["bulk", 9, 18]]);
  expect(guardsFor(own)).toEqual([]);
});

test("NS records that a run leaves out need their consent before it turns the domain off", async () => {
  const apex = (target: string) => ({ type: "NS", name: "", target });
  const zone = { domain: "s.example", soa_email: "h@s.example", tags: ["tenon:me"], records: [apex("ns1.a.example")] };
  const manifest = (target: string): string => {
    const domain = { domain: zone.domain, type: "master", status: "disabled", soa_email: zone.soa_email };
    return JSON.stringify({ tenon: 1, owner: "me", domains: [{ ...domain, records: [apex(target)] }] });
  };
  const later = "a whole run would change the NS records at the apex of domain/s.example, which needs no consent once";
  for (const [target, args, code, said] of [
    ["ns1.evil.example.", [], 4, "the NS records at the apex of domain/s.example would change"],
    ["ns1.evil.example.", ["--exclude", "domain/s.example/*"], 4, later],
    ["ns1.evil.example.", ["--exclude", "domain/s.example/*", "--allow", "ns=domain/s.example"], 0, "1 changed"],
    ["ns1.a.example.", ["--exclude", "domain/s.example/*"], 0, "1 changed"],
  ] as const) {
    const service = await emulator({ seed: { domains: [zone] } as never });
    const cwd = await folder({ "tenon.yaml": manifest(target) });
    const { code: ended, stdout, stderr } = await run(["apply", "--yes", ...args], { cwd, env: envOf(service) });
    expect([args, ended, (stdout + stderr).replace(/\s+/g, " ")]).toEqual([args, code, expect.stringContaining(said)]);
    if (code === 4) expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  }
});
