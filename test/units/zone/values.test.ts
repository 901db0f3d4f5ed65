/** Records in one form: what the service shows, and what is sent to it. */

import { describe, expect, test } from "vitest";
import type { WireRecord } from "../../../src/api/wire.ts";
import type { RecordType } from "../../../src/dns/record.ts";
import {
  contentKey,
  liveRecord,
  pointerTarget,
  type RecordValues,
  recordBody,
} from "../../../src/units/zone/wire-record.ts";
import { Account, changeList } from "../../support/account.ts";

const ZONE = "example.com";

function wire(type: RecordType, fields: Partial<WireRecord<RecordType>>): WireRecord<RecordType> {
  const empty = {
    id: 1,
    name: "",
    target: "",
    ttl_sec: 0,
    priority: 0,
    weight: 0,
    port: 0,
    protocol: null,
    service: null,
    tag: null,
  };
  return { ...empty, created: "2026-01-01T00:00:00", updated: "2026-01-01T00:00:00", type, ...fields };
}

function live(type: RecordType, fields: Partial<WireRecord<RecordType>>): RecordValues {
  return liveRecord(wire(type, fields), ZONE);
}

describe("the name", () => {
  test.each([
    ["www", "www"],
    ["WWW", "www"],
    ["www.example.com", "www"],
    ["www.Example.COM.", "www"],
    ["", ""],
    ["@", ""],
    ["example.com", ""],
    ["*", "*"],
    ["*.dev", "*.dev"],
    ["xn--strae-oqa", "xn--strae-oqa"],
    ["straße", "xn--strae-oqa"],
    ["notexample.com", "notexample.com"],
    ["10", "10"],
    ["www/ü", "www/ü"],
    ["www/canary\u00ad", "www/canary\u00ad"],
  ])("%j is %j", (name, expected) => {
    expect(live("A", { name, target: "192.0.2.1" }).name).toBe(expected);
  });
});

describe("the target", () => {
  test.each([
    ["CNAME", "Mx.Example.NET.", "mx.example.net"],
    ["MX", "", ""],
    ["MX", ".", ""],
    ["NS", "ns1.example.net", "ns1.example.net"],
    ["PTR", "BÜCHER.example", "xn--bcher-kva.example"],
    ["CNAME", "shop?ü.partner.example", "shop?ü.partner.example"],
    ["AAAA", "2001:0DB8:0:0:0:0:0:1", "2001:db8::1"],
    ["AAAA", "::ffff:192.0.2.1", "::ffff:c000:201"],
    ["AAAA", "no address", "no address"],
    ["A", "192.0.2.1", "192.0.2.1"],
    ["TXT", "Case And dot.", "Case And dot."],
    ["TXT", ' "quoted" \\ ', ' "quoted" \\ '],
    ["TXT", "", ""],
    ["CAA", "LetsEncrypt.org; x=Y", "LetsEncrypt.org; x=Y"],
  ] as const)("of %s %j is %j", (type, target, expected) => {
    expect(live(type, { target, tag: "issue" }).target).toBe(expected);
  });
});

describe("values that a type does not use", () => {
  const echoed = {
    name: "x",
    target: "t",
    priority: 1,
    weight: 55,
    port: 2,
    protocol: "udp",
    service: "s",
    tag: "issue",
  };

  test.each([
    ["A", []],
    ["TXT", []],
    ["CNAME", []],
    ["NS", []],
    ["PTR", []],
    ["MX", ["priority"]],
    ["CAA", ["tag"]],
    ["SRV", ["port", "priority", "weight"]],
  ] as const)("%s keeps only %j", (type, extra) => {
    expect(Object.keys(live(type, echoed)).sort()).toEqual(["name", "target", "ttl_sec", "type", ...extra].sort());
  });

  test("make no difference in content", () => {
    expect(contentKey(live("A", echoed))).toBe(contentKey(live("A", { name: "x", target: "t" })));
    expect(contentKey(live("MX", { ...echoed, target: "a.b" }))).not.toBe(
      contentKey(live("MX", { name: "x", target: "a.b" })),
    );
  });
});

describe("a service record", () => {
  const srv = { service: "sip", protocol: "tcp", target: "sip.example.com", port: 5060 };

  test("has service and protocol in its name, wherever the service shows them", () => {
    expect(live("SRV", { ...srv, name: "_sip._tcp" }).name).toBe("_sip._tcp");
    expect(live("SRV", { ...srv, name: "" }).name).toBe("_sip._tcp");
    expect(live("SRV", { ...srv, service: "_sip", protocol: "_tcp", name: "ignored" }).name).toBe("_sip._tcp");
    expect(live("SRV", { ...srv, protocol: "tcp.sub", name: "_sip._tcp.sub" }).name).toBe("_sip._tcp.sub");
    expect(live("SRV", { ...srv, name: "_sip._tcp.example.com" }).name).toBe("_sip._tcp");
  });

  test("is sent with both bare, the parent in the protocol, and its target with a final dot", () => {
    const values = live("SRV", { ...srv, name: "_sip._tcp.sub.eu" });
    expect(recordBody(values, ["name", "target", "port"])).toEqual({
      service: "sip",
      protocol: "tcp.sub.eu",
      target: "sip.example.com.",
      port: 5060,
    });
  });
});

test("a body names hosts with a final dot, the root as a dot, and leaves texts and addresses as they are", () => {
  const body = (type: RecordType, target: string) => recordBody(live(type, { target }), ["name", "target"]);
  expect(body("CNAME", "a.b")).toEqual({ name: "", target: "a.b." });
  expect(body("MX", "")).toEqual({ name: "", target: "." });
  expect(body("TXT", "x")).toEqual({ name: "", target: "x" });
  expect(body("A", "192.0.2.1")).toEqual({ name: "", target: "192.0.2.1" });
});

test("content is told apart by every field, and by nothing if it is left out", () => {
  const one = live("MX", { name: "a", target: "x.y", priority: 5, ttl_sec: 300 });
  const others: RecordValues[] = [
    { ...one, name: "b" },
    { ...one, target: "x.z" },
    { ...one, ttl_sec: 0 },
    { ...one, priority: 6 },
    { ...one, type: "NS" },
  ];
  for (const other of others) expect(contentKey(other)).not.toBe(contentKey(one));
  expect(contentKey({ ...one, name: "b" }, ["name"])).toBe(contentKey(one, ["name"]));
  expect(contentKey({ ...one, ttl_sec: 0 }, ["ttl_sec"])).toBe(contentKey(one, ["ttl_sec"]));
});

test("no text can pretend to be another field", () => {
  const texts = ['a","b', "a\\", '"', "", "null", "0"].map((target) => contentKey(live("TXT", { name: "n", target })));
  expect(new Set(texts).size).toBe(texts.length);
});

test("aliases, exchangers, name servers and services point; a null one and all others do not", () => {
  for (const type of ["CNAME", "MX", "NS", "SRV"] as const) {
    expect(pointerTarget(live(type, { name: "_a._b", target: "X.y." }))).toBe("x.y");
    expect(pointerTarget(live(type, { name: "_a._b", target: "" }))).toBeNull();
  }
  for (const type of ["A", "AAAA", "TXT", "CAA", "PTR"] as const)
    expect(pointerTarget(live(type, { target: "x.y" }))).toBeNull();
});

test("addresses of a domain's lists are the same however they are spelt", async () => {
  const zone = { domain: "a.example", type: "master", soa_email: "a@a.example", axfr_ips: ["2001:DB8::0008"] };
  const account = await Account.open({ seed: { domains: [zone] } as never });
  try {
    const planOf = async (address: string) => {
      const entry = `{ domain: a.example, type: master, soa_email: a@a.example, axfr_ips: ["${address}"] }`;
      const { desired } = await account.load(`tenon: 1\ndomains: [${entry}]\n`);
      return changeList(await account.plan(desired as never));
    };
    expect(await planOf("2001:db8::8")).toEqual([]);
    expect(await planOf("2001:db8::9")).toEqual(["update domain/a.example"]);
  } finally {
    await account.close();
  }
});
