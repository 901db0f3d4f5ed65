import { describe, expect, test } from "vitest";
import { canonicalIp, canonicalIpv4, canonicalIpv6 } from "../../src/dns/ip.ts";
import { ownerName, serviceOwner, targetName } from "../../src/dns/name.ts";

describe("names that own records", () => {
  test.each([
    ["", ""],
    ["@", ""],
    ["WWW", "www"],
    ["example.com.", ""],
    ["A.Example.COM.", "a"],
    ["*.dev", "*.dev"],
    ["*", "*"],
    ["_dmarc", "_dmarc"],
    ["bücher", "xn--bcher-kva"],
    ["10", "10"],
    ["0/25", "0/25"],
  ])("%j is %j", (text, name) => {
    expect(ownerName(text, "example.com")).toEqual({ ok: true, name });
  });

  test.each([
    ["www.example.org.", "outside"],
    ["badexample.com.", "outside"],
    ["example.com", "repeats-zone"],
    ["www.example.com", "repeats-zone"],
    ["www.example.com.example.com.", "repeats-zone"],
    ["a..b", "empty-label"],
    [".", "outside"],
    [".a", "empty-label"],
    ["a.*.b", "bad-wildcard"],
    ["a*", "bad-wildcard"],
    ["a b", "bad-character"],
    ["a\u202eb", "not-ascii"],
    ["x".repeat(64), "long-label"],
    [`${"x".repeat(60)}.${"x".repeat(40)}`, "over-length"],
  ])("%j is refused: %s", (text, problem) => {
    expect(ownerName(text, "example.com")).toMatchObject({ ok: false, problem });
  });

  test("a name is too long together with its zone", () => {
    const zone = `${`${"z".repeat(60)}.`.repeat(3)}example`;
    expect(ownerName("x".repeat(63), zone)).toMatchObject({ ok: false, problem: "long-name" });
    expect(ownerName("x".repeat(60), zone)).toMatchObject({ ok: true });
  });
});

describe("names of services", () => {
  test.each([
    ["", "sip", "tcp", "_sip._tcp"],
    ["sub", "_sip", "_TCP", "_sip._tcp.sub"],
    ["_sip._tcp", null, null, "_sip._tcp"],
    ["_sip._tcp.a.b", "sip", "tcp", "_sip._tcp.a.b"],
    ["_a+b-c._tcp", null, null, "_a+b-c._tcp"],
    ["", "s".repeat(62), "tcp", `_${"s".repeat(62)}._tcp`],
    ["", "foo_bar", "tcp", "_foo_bar._tcp"],
    ["_foo_bar._tcp", null, null, "_foo_bar._tcp"],
    ["", "service_test", null, "_service_test"],
    ["_service_test", null, null, "_service_test"],
    ["_sip", "_SIP", null, "_sip"],
    ["_sip._tcp", "sip", null, "_sip._tcp"],
  ])("%j with %j and %j is %j", (name, service, protocol, full) => {
    expect(serviceOwner(name, service, protocol)).toEqual({ ok: true, name: full });
  });

  test.each([
    ["", null, null, "missing"],
    ["sip", null, null, "missing"],
    ["sip.tcp", null, null, "missing"],
    ["_sip.sub", null, null, "missing"],
    ["sub", "sip", null, "incomplete"],
    ["_other", "sip", null, "incomplete"],
    ["_sip._tcp", "other", null, "disagree"],
    ["_sip._tcp", null, "tcp", "incomplete"],
    ["_sip._tcp", "sip", "udp", "disagree"],
    ["", "sip.x", "tcp", "bad-label"],
    ["", "", "tcp", "bad-label"],
    ["", "foo_", "tcp", "bad-label"],
    ["", "__foo", "tcp", "bad-label"],
    ["_foo_._tcp", null, null, "bad-label"],
    ["_foo-", null, null, "bad-label"],
    ["", "foo_", null, "bad-label"],
    ["_a/b._tcp", null, null, "bad-label"],
    ["_sip-._tcp", null, null, "bad-label"],
    ["_sip._-tcp.sub", null, null, "bad-label"],
    ["", "s".repeat(63), "tcp", "bad-label"],
  ])("%j with %j and %j is refused: %s", (name, service, protocol, problem) => {
    expect(serviceOwner(name, service, protocol)).toEqual({ ok: false, problem });
  });
});

describe("targets that are names", () => {
  test.each([
    ["mx", "mx.example.com"],
    ["mx.example.net.", "mx.example.net"],
    ["MX.Example.NET.", "mx.example.net"],
    ["@", "example.com"],
    ["bücher", "xn--bcher-kva.example.com"],
    ["com.", "com"],
  ])("%j is %j", (text, name) => {
    expect(targetName(text, "example.com", false)).toEqual({ ok: true, name });
  });

  test("a name with dots but no final one shows both readings", () => {
    expect(targetName("mx.example.net", "example.com", false)).toEqual({
      ok: false,
      problem: "ambiguous",
      readings: ["mx.example.net.", "mx.example.net.example.com."],
    });
  });

  test("the root is a target only where it means that there is none", () => {
    expect(targetName(".", "example.com", true)).toEqual({ ok: true, name: "" });
    expect(targetName(".", "example.com", false)).toMatchObject({ problem: "root" });
  });

  test.each([
    ["", "empty"],
    ["..", "empty-label"],
    ["a b", "bad-character"],
    ["*", "bad-wildcard"],
    ["*.a.", "bad-wildcard"],
    [`${"x.".repeat(130)}`, "long-name"],
  ])("%j is refused: %s", (text, problem) => {
    expect(targetName(text, "example.com", true)).toMatchObject({ ok: false, problem });
  });
});

describe("addresses", () => {
  test.each([
    ["2001:DB8::0:1", "2001:db8::1"],
    ["0:0:0:0:0:0:0:0", "::"],
    ["2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    ["::ffff:192.0.2.1", "::ffff:c000:201"],
  ])("%s is %s", (text, canonical) => {
    expect(canonicalIpv6(text)).toBe(canonical);
    expect(canonicalIp(text)).toBe(canonical);
  });

  test.each(["192.0.2.01", "192.0.2", "192.0.2.256", "192.0.2.1 ", "0x7f.0.0.1", "1", "", "١.1.1.1"])(
    "%j is no IPv4 address",
    (text) => {
      expect(canonicalIpv4(text)).toBeNull();
    },
  );

  test.each(["fe80::1%eth0", "::1::", "2001:db8", "12345::", "[::1]"])("%j is no IPv6 address", (text) => {
    expect(canonicalIpv6(text)).toBeNull();
  });
});
