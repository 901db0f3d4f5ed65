import { describe, expect, it, vi } from "vitest";
import { Alias } from "yaml";
import { reformat } from "../../src/format/reformat.ts";
import { units } from "../../src/units/index.ts";
import { folder, load } from "../manifest/support.ts";
import { growth } from "../support/operations.ts";

async function formatted(text: string): Promise<string> {
  const result = await reformat(text, units);
  if (!result.ok) throw new Error(`It loses a ${result.loses}`);
  return result.text;
}

/** The records of a domain, one line each. */
async function records(...lines: string[]): Promise<string[]> {
  const text = await formatted(
    `domains:\n  - domain: a.example\n    records:\n${lines.map((line) => `      ${line}\n`).join("")}`,
  );
  return text
    .split("\n")
    .slice(3, -1)
    .map((line) => line.replace(/^ {6}/, ""));
}

describe("the form of a manifest", () => {
  it("of a key without a colon is that of its author", async () => {
    for (const text of ["tenon: 1\n? \n", "tenon: 1\n? x-a\n", "tenon: 1\nx-a:\n  - ? b\n"]) {
      expect([text, await reformat(text, units)]).toEqual([text, { ok: false, loses: "value" }]);
    }
    expect(await formatted("tenon: 1\nx-a: [{ b }]\n")).toContain("{ b }");
  });

  it("of a key that is not plainly visible is one that a manifest may have", async () => {
    for (const [text, key] of [
      ["x-a\u00a0b: 1\n", '"x-a\\u00a0b": 1'],
      ["record_sets:\n  m\ufeffail: [{ type: A, target: 192.0.2.1 }]\n", '"m\\ufeffail":'],
    ] as const) {
      const written = await formatted(`tenon: 1\n${text}`);
      expect(written).toContain(key);
      const { diagnostics } = await load(folder({ "tenon.yaml": written }));
      expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
    }
  });

  it("has sections and keys in a fixed order, a blank line before sections and between large entries", async () => {
    const text = `# about the file
allow: [{ reason: r, replace: vpc/a }]
domains:
- records: [{ target: 192.0.2.1, type: A }]
  soa_email: a@example.com # who
  x-own: 1
  domain: a.example
- domain: b.example
  type: master
vpcs: [{ region: us-east, label: v, subnets: [{ ipv4: 10.0.0.0/24, label: s }] }]
files: [z.yaml]
owner: me
tenon: 1
`;
    expect(await formatted(text)).toBe(`# about the file
tenon: 1
owner: me
files: [z.yaml]

vpcs:
  - label: v
    region: us-east
    subnets:
      - { label: s, ipv4: 10.0.0.0/24 }

domains:
  - domain: a.example
    soa_email: a@example.com # who
    x-own: 1
    records:
      - { type: A, target: 192.0.2.1 }

  - domain: b.example
    type: master

allow:
  - { replace: vpc/a, reason: r }
`);
  });

  it("has records sorted: the apex, then names by their labels from the right, then types as people write them", async () => {
    const sorted = await records(
      "- { type: A, name: b.a, target: 192.0.2.1 }",
      "- { type: PTR, name: a, target: p }",
      "- { type: A, name: a, target: 192.0.2.1 }",
      "- { type: TXT, name: a.example., target: t }",
      "- { name: '@', target: ns1, type: NS }",
      "- { type: MX, target: mx, priority: 20 }",
      "- { type: MX, target: mx, priority: 5 }",
      "- { type: SRV, name: a, service: sip, protocol: tcp, target: ., priority: 0, weight: 0, port: 0 }",
    );
    expect(sorted).toEqual([
      "- { type: NS, name: '@', target: ns1 }",
      "- { type: MX, target: mx, priority: 5 }",
      "- { type: MX, target: mx, priority: 20 }",
      "- { type: TXT, name: a.example., target: t }",
      "- { type: A, name: a, target: 192.0.2.1 }",
      "- { type: PTR, name: a, target: p }",
      "- { type: SRV, name: a, service: sip, protocol: tcp, target: ., priority: 0, weight: 0, port: 0 }",
      "- { type: A, name: b.a, target: 192.0.2.1 }",
    ]);
  });

  it("joins records that are equal but for their target, addresses by number, texts never", async () => {
    const joined = await records(
      "- { type: A, target: 192.0.2.10, ttl_sec: 300 }",
      "- { type: A, target: 192.0.2.9, ttl_sec: 300 }",
      "- { type: A, target: 192.0.2.8 }",
      "- { type: TXT, target: b }",
      "- { type: TXT, target: a }",
    );
    expect(joined).toEqual([
      "- { type: A, target: 192.0.2.8 }",
      "- { type: A, targets: [192.0.2.9, 192.0.2.10], ttl_sec: 300 }",
      "- { type: TXT, target: a }",
      "- { type: TXT, target: b }",
    ]);
  });

  it("has builders where their records would be, and anything else where it was", async () => {
    const sorted = await records(
      "- { type: A, name: www, target: 192.0.2.1 }",
      "- { dmarc: { policy: reject } }",
      "- { type: MX, target: mx, priority: 5 }",
      "- { ttl_sec: 300, spf: { mx: true, all: fail } }",
      "- { ptr: { of: x } }",
      "- { type: A, name: a, target: 192.0.2.1 }",
    );
    expect(sorted).toEqual([
      "- { type: MX, target: mx, priority: 5 }",
      "- { spf: { mx: true, all: fail }, ttl_sec: 300 }",
      "- { dmarc: { policy: reject } }",
      "- { type: A, name: www, target: 192.0.2.1 }",
      "- { ptr: { of: x } }",
      "- { type: A, name: a, target: 192.0.2.1 }",
    ]);
  });

  it("keeps sections that blank lines and comments divide", async () => {
    const lines = [
      "# web",
      "- { type: A, name: z, target: 192.0.2.1 }",
      "- { type: A, name: y, target: 192.0.2.1 }",
      "",
      "# mail",
    ];
    const more = ["- { type: A, name: b, target: 192.0.2.1 } # old", "- { type: A, name: a, target: 192.0.2.1 }"];
    expect(await records(...lines, ...more)).toEqual([
      "# web",
      "- { type: A, name: y, target: 192.0.2.1 }",
      "- { type: A, name: z, target: 192.0.2.1 }",
      "",
      "# mail",
      "- { type: A, name: a, target: 192.0.2.1 }",
      "- { type: A, name: b, target: 192.0.2.1 } # old",
    ]);
  });

  it("leaves entries with a comment inside, or a text of several lines, in block form", async () => {
    const lines = ["- type: A # why", "  target: 192.0.2.1", "- target: >-", "    long", "    text", "  type: TXT"];
    expect(await records(...lines)).toEqual([
      "- type: A # why",
      "  target: 192.0.2.1",
      "- type: TXT",
      "  target: >-",
      "    long text",
    ]);
  });
});

describe("what is written stays what it is", () => {
  it.each([
    ["numbers as they were written", "record_sets:\n  a:\n    - { type: A, name: 010, target: 1e3, ttl_sec: 0x1F }\n"],
    ["words that mean something to YAML", 'x-a: { a: ~, b: null, c: "null", d: yes, e: "010", f: }\n'],
    [
      "anchors before their aliases",
      "tenon: 1\n\ndomains:\n  - &d\n    type: master\n    domain: a.example\n  - *d\n\nallow: []\n",
    ],
    ["escapes of what is hidden", 'x-a: "a\\u202eb\\u0085c"\n'],
    ["quotes where they are needed", 'x-a: ["a: b", \'#\', "it\'s", \'"\', ""]\n'],
  ])("%s", async (_, text) => {
    expect(await formatted(text)).toBe(text);
  });

  it("of a list with anchors the order stays", async () => {
    const lines = ["- { type: A, name: z, target: &t 192.0.2.1 }", "- { type: A, name: a, target: *t }"];
    expect(await records(...lines)).toEqual(lines);
  });

  it("windows line ends become plain ones, a comment at the end stays at the end", async () => {
    expect(await formatted("tenon: 1\r\n# a\r\nowner: me\r\n\r\n# end\r\n")).toBe(
      "tenon: 1\n# a\nowner: me\n\n# end\n",
    );
  });

  it("of aliases without the library's look-up, which goes through all anchors for each alias", async () => {
    const lookUp = vi.spyOn(Alias.prototype, "resolve");
    const text = (count: number) => {
      const numbers = Array.from({ length: count }, (_, index) => index);
      return `tenon: 1\nx-a:\n${numbers.map((index) => `  - &a${index} ${index}\n`).join("")}x-b: [${numbers.map((index) => `*a${index}`).join(", ")}]\n`;
    };
    expect(await formatted(text(10))).toContain("*a9");
    expect(lookUp).not.toHaveBeenCalled();
    lookUp.mockRestore();
    expect(await growth(500, 4, (count) => formatted(text(count)))).toBeLessThan(5);
  });

  it("where an anchor is set twice, and where an alias leads to a list with an alias in it", async () => {
    const text = `tenon: 1
x-a: &a [1, &b 2]
x-b: &b 3
x-c: [*a, *b]
domains:
  - domain: a.example
    records: &r [{ target: 192.0.2.2, type: A }, { target: 192.0.2.1, type: A }]
  - domain: b.example
    records: *r
`;
    expect(await formatted(text)).toMatch(/x-c: \[\*a, \*b\]/);
  });

  it("of 12,000 records with comments, and of four times the records with four times the work", async () => {
    const format = async (count: number): Promise<void> => {
      const lines = Array.from({ length: count }, (_, index) => {
        const note = index % 9 === 0 ? ` # c${index}` : "";
        return `      - { target: 10.0.${index % 256}.${index >> 8}, type: A, name: h${(index * 7919) % count} }${note}\n`;
      });
      const text = `tenon: 1\ndomains:\n  - domain: a.example\n    type: master\n    soa_email: a@a.example\n    records:\n${lines.join("")}`;
      const result = await formatted(text);
      expect(result.match(/# c\d+$/gm)).toHaveLength(Math.ceil(count / 9));
    };
    await format(12_000);
    expect(await growth(500, 4, format)).toBeLessThan(5);
  });
});

describe("records of one name and type", () => {
  it("are sorted by their first target, and only neighbours that differ in nothing else become one", async () => {
    expect(
      await records("- { type: A, targets: [192.0.2.9, 192.0.2.8] }", "- { type: A, target: 192.0.2.5, ttl_sec: 300 }"),
    ).toEqual(["- { type: A, target: 192.0.2.5, ttl_sec: 300 }", "- { type: A, targets: [192.0.2.9, 192.0.2.8] }"]);
    const apart = [
      "- { type: A, target: 192.0.2.1 }",
      "- { type: A, target: 192.0.2.2, lint: { off: [private-address] } }",
      "- { type: A, target: 192.0.2.3 }",
    ];
    expect(await records(...apart)).toEqual(apart);
    const targetless = ["- { type: A, name: x }", "- { type: A, name: x, target: 192.0.2.1 }"];
    expect(await records(...targetless)).toEqual(targetless);
    // The first of the targets is no scalar: it has no place among the others by its target.
    const nested = ["- { type: A, name: x, targets: [ [192.0.2.9] ] }", "- { type: A, name: x, target: 192.0.2.1 }"];
    expect((await records(...nested)).toSorted()).toEqual(nested.toSorted());
  });
});
