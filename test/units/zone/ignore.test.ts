import { describe, expect, test } from "vitest";
import type { IgnorePattern } from "../../../src/model/desired.ts";
import {
  affixesOf,
  type IgnorableRecord,
  ignoring,
  isIgnored,
  registeredNames,
} from "../../../src/units/zone/ignore.ts";
import { growth } from "../../support/operations.ts";

const HERITAGE = "heritage=external-dns,external-dns/owner=default,external-dns/resource=ingress/a/b";

function record(text: string): IgnorableRecord {
  const [type = "", name = "", target = ""] = text.split(" ");
  return { type, name: name === "@" ? "" : name, target };
}

/** Which of the records are ignored, each as `TYPE name target`. */
function ignored(pattern: IgnorePattern, live: readonly string[]): string[] {
  const rules = ignoring([pattern], "example.com", live, record);
  return live.filter((text) => rules.ignores(record(text)));
}

test("a pattern without stars is what it spells, though the record has no name that anybody could look up", () => {
  const odd = [
    "A a 😀",
    "AAAA b é",
    "CNAME c .",
    "NS d ",
    "MX e xn--ZZ--.",
    "SRV f ..",
    "A .. 192.0.2.1",
    "A É 192.0.2.1",
  ];
  for (const text of odd) {
    const { type, name, target } = record(text);
    expect(ignored({ type, name, target: target === "" ? "." : target }, [...odd, "A a 192.0.2.9"])).toEqual([text]);
  }
  // `import` writes a name with its final dot.
  expect(ignored({ target: "e\u0301~." }, ["CNAME g e\u0301~", "TXT g e\u0301~", "MX g \u00e9"])).toEqual([
    "CNAME g e\u0301~",
  ]);
});

describe("the preset acme", () => {
  test("ignores the texts of challenges at any depth, and nothing else", () => {
    const live = [
      "TXT _acme-challenge x",
      "TXT _ACME-Challenge.a.b x",
      "CNAME _acme-challenge.c x",
      "TXT _acme-challenges x",
      "TXT a._acme-challenge x",
    ];
    expect(ignored({ preset: "acme" }, live)).toEqual(live.slice(0, 2));
  });
});

describe("the preset external-dns", () => {
  test("ignores its registry and every record of the names in it, in both formats", () => {
    const own = [
      `TXT www ${HERITAGE}`,
      "A www 192.0.2.1",
      `TXT a-app.dev ${HERITAGE}`,
      "A app.dev 192.0.2.1",
      "TXT app.dev words",
      `TXT cname-shop "${HERITAGE}"`,
      "CNAME shop x",
      `TXT aaaa-*.wild ${HERITAGE}`,
      "AAAA *.wild ::1",
    ];
    const ours = [
      "A app 192.0.2.1",
      "A dev 192.0.2.1",
      "A @ 192.0.2.1",
      "TXT note heritage=external-dnsx",
      "TXT other x,heritage=external-dns",
      "A a-www 192.0.2.1",
    ];
    expect(ignored({ preset: "external-dns" }, [...ours, ...own])).toEqual(own);
  });

  test("knows what --txt-prefix and --txt-suffix put around names", () => {
    const live = [`TXT ext-www ${HERITAGE}`, `TXT ext-a-api ${HERITAGE}`, "A www 192.0.2.1", "A api 192.0.2.1"];
    expect(ignored({ preset: "external-dns" }, live)).toEqual(live.slice(0, 2));
    expect(ignored({ preset: "external-dns", txt_prefix: "Ext-" }, live)).toEqual(live);
    expect(registeredNames("cname-abc-.www", affixesOf("%{record_type}-abc-.", ""))).toContain("www");
    expect(registeredNames("cname-abc-", affixesOf("%{record_type}-abc-.", ""))).toContain("");
    expect(registeredNames("a-www-ext.dev", affixesOf("", "-ext"))).toContain("www.dev");
    expect(registeredNames("www-.a.dev", affixesOf("", "-.%{record_type}"))).toContain("www.dev");
    expect(registeredNames("www", affixesOf("ext-", ""))).not.toContain("");
  });

  test("can be narrowed by the other parts, and is nothing without live records but the registry's own texts", () => {
    const live = [`TXT www ${HERITAGE}`, "A www 192.0.2.1"];
    expect(ignored({ preset: "external-dns", type: "A" }, live)).toEqual(["A www 192.0.2.1"]);
    expect(ignored({ preset: "external-dns", name: "*.dev" }, live)).toEqual([]);
    expect(isIgnored(record("A www 192.0.2.1"), [{ preset: "external-dns" }], "example.com")).toBe(false);
    expect(isIgnored(record(`TXT www ${HERITAGE}`), [{ preset: "external-dns" }], "example.com")).toBe(true);
  });

  test("names the live records that make a name somebody else's", () => {
    const live = [`TXT a-www ${HERITAGE}`, `TXT www ${HERITAGE}`, "A www 192.0.2.1"];
    const rules = ignoring([{ preset: "external-dns" }, { type: "MX" }], "example.com", live, record);
    expect(rules.claimants(record("AAAA www ::1"))).toEqual({ first: live.slice(0, 2), count: 2 });
    expect(rules.claimants(record("MX other x"))).toEqual({ first: [], count: 0 });
  });

  test("looks a name up: four times the names take four times the work", async () => {
    const ignore = (count: number) => {
      const live = Array.from({ length: count }, (_, index) =>
        index % 2 === 0 ? `TXT a-h${index} ${HERITAGE}` : `A h${index - 1} 192.0.2.1`,
      );
      expect(ignored({ preset: "external-dns" }, live)).toHaveLength(count);
    };
    expect(await growth(500, 4, ignore)).toBeLessThan(5);
  });
});

describe("names and targets of a pattern", () => {
  test("are taken in every spelling: Unicode or punycode, absolute, in capitals; addresses in any form", () => {
    const live = [
      "A xn--bcher-kva 192.0.2.1",
      "A xn--bro-hoa.xn--bcher-kva 192.0.2.1",
      "AAAA www 2001:db8::1",
      "MX @ xn--bcher-kva.example",
    ];
    const [books, office, www, mail] = live;
    for (const name of [
      "bücher",
      "BÜCHER",
      "bu\u0308cher",
      "xn--bcher-kva",
      "Bücher.example.com.",
      "xn--bcher-kva.EXAMPLE.com.",
    ]) {
      expect({ name, found: ignored({ name }, live) }).toEqual({ name, found: [books] });
    }
    expect(ignored({ name: "bü*" }, live)).toEqual([books, office]);
    expect(ignored({ name: "*.bücher" }, live)).toEqual([office]);
    expect(ignored({ name: "*.bücher.example.com." }, live)).toEqual([office]);
    expect(ignored({ name: "example.com." }, live)).toEqual([mail]);
    expect(ignored({ name: "www.example.com" }, live)).toEqual([]);
    expect(ignored({ name: "www.example.org." }, live)).toEqual([]);
    expect(ignored({ target: "2001:0DB8:0:0::1" }, live)).toEqual([www]);
    for (const target of ["bücher.example", "Bücher.example.", "*ücher.*"]) {
      expect({ target, found: ignored({ target }, live) }).toEqual({ target, found: [mail] });
    }
  });
});
