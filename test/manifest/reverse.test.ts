import { describe, expect, test } from "vitest";
import { reverseName, reverseZone } from "../../src/dns/ip.ts";
import { codes, loadText, places, records } from "./support.ts";

function reverse(network: string, ptr: string): string {
  return `domains:\n  - reverse: ${network}\n    type: master\n    soa_email: h@example.com\n    records:\n      - ptr: ${ptr}\n`;
}

describe("a reverse zone", () => {
  test("is named after its network", () => {
    expect(reverseZone("192.0.2.0/24")).toEqual({ ok: true, zone: "2.0.192.in-addr.arpa" });
    expect(reverseZone("10.0.0.0/8")).toEqual({ ok: true, zone: "10.in-addr.arpa" });
    expect(reverseZone("192.0.2.1/32")).toEqual({ ok: true, zone: "1.2.0.192.in-addr.arpa" });
    expect(reverseZone("2001:DB8::/32")).toEqual({ ok: true, zone: "8.b.d.0.1.0.0.2.ip6.arpa" });
    expect(reverseZone("2001:db8:a000::/36")).toEqual({ ok: true, zone: "a.8.b.d.0.1.0.0.2.ip6.arpa" });
    expect(reverseName("192.0.2.10")).toBe("10.2.0.192.in-addr.arpa");
    expect(reverseName("::1")).toBe(`1.${"0.".repeat(31)}ip6.arpa`);
    expect(reverseName("::ffff:192.0.2.1")).toMatch(/^1\.0\.2\.0\.0\.0\.0\.c\.f\.f\.f\.f\..*ip6\.arpa$/);
  });

  test("is of a network whose prefix ends between two labels", () => {
    expect(reverseZone("192.0.2.5/24")).toEqual({ ok: false, problem: "host-bits", network: "192.0.2.0/24" });
    expect(reverseZone("2001:db8::1/32")).toEqual({ ok: false, problem: "host-bits", network: "2001:db8::/32" });
    for (const network of ["192.0.2.0/25", "192.0.0.0/20", "2001:db8::/33"])
      expect(reverseZone(network)).toEqual({ ok: false, problem: "between-labels" });
    for (const network of [
      "192.0.2.0",
      "192.0.2.0/33",
      "192.0.2.0/0",
      "192.0.2/24",
      "x/24",
      "",
      "2001:db8::/129",
      "192.0.2.0/-8",
      "192.0.2.0/24/1",
    ])
      expect(reverseZone(network)).toEqual({ ok: false, problem: "no-network" });
  });

  test("takes the place of a domain's name, alone or in a list, and has names for its addresses", async () => {
    const result = await loadText(
      reverse("[192.0.2.0/24]", "{ 192.0.2.10: www.example.com., 192.0.2.11: [a.example.com, Bücher.example] }"),
    );
    expect(result.diagnostics).toEqual([]);
    expect(result.project?.desired.declared[0]?.key).toBe("2.0.192.in-addr.arpa");
    expect(records(result)).toEqual([
      { type: "PTR", name: "10", target: "www.example.com", ttl_sec: 0 },
      { type: "PTR", name: "11", target: "a.example.com", ttl_sec: 0 },
      { type: "PTR", name: "11", target: "xn--bcher-kva.example", ttl_sec: 0 },
    ]);
    const six = await loadText(
      reverse("2001:db8::/32", "{ 2001:db8::10: www.example.com. }").replace(
        "reverse: 2001:db8::/32",
        "domain: 8.b.d.0.1.0.0.2.ip6.arpa",
      ),
    );
    expect(records(six)[0]?.name).toBe(`0.1.${"0.".repeat(22)}`.replace(/\.$/, ""));
  });

  test("has no address of another network, and no relative name", async () => {
    const text = reverse(
      "192.0.2.0/24",
      "\n          192.0.3.1: a.example.\n          2001:db8::1: a.example.\n          localhost: a.example.\n          192.0.2.1: www\n          192.0.2.2: [a.example, '']\n          192.0.2.3: a..example",
    );
    expect(places(await loadText(text))).toEqual([
      "outside-zone tenon.yaml:8:22",
      "outside-zone tenon.yaml:9:24",
      "bad-part tenon.yaml:10:22",
      "bad-part tenon.yaml:11:22",
      "too-short tenon.yaml:12:34",
      "bad-part tenon.yaml:13:22",
    ]);
    expect(codes(await loadText(reverse("192.0.2.0/24", "{ 192.0.2.3: a!.example. }")))).toEqual(["bad-target"]);
  });

  test("cannot be told from what is no such network, or beside a name", async () => {
    expect(places(await loadText(reverse("192.0.2.9/24", "{}")))).toEqual(["bad-network tenon.yaml:3:14"]);
    expect(places(await loadText(reverse("192.0.2.0/26", "{}")))).toEqual(["bad-network tenon.yaml:3:14"]);
    const [part] = (await loadText(reverse("192.0.2.0/26", "{}"))).diagnostics;
    expect(part?.detail).toContain("after 8, 16, 24 or 32 bits of an IPv4 address");
    expect(part?.fix).toContain("without a slash");
    expect(places(await loadText(reverse("[192.0.2.0/24, 1.2.3.4]", "{}")))).toEqual(["bad-network tenon.yaml:3:29"]);
    const both = reverse("192.0.2.0/24\n    domain: example.com", "{}");
    expect(codes(await loadText(both))).toEqual(["conflicting-keys"]);
    expect(codes(await loadText("domains:\n  - type: master\n    soa_email: h@example.com\n"))).toEqual([
      "missing-key",
    ]);
    const twice = reverse("[192.0.2.0/24, 192.0.2.0/24]", "{}");
    expect(codes(await loadText(twice))).toEqual(["duplicate-entry"]);
  });
});
