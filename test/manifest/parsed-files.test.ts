/** A project that is loaded twice, now and as it was: files that are the same are parsed once, and nothing else is shared. */

import { expect, test } from "vitest";
import { allowedSeconds, type LoadOptions, loadProject } from "../../src/index.ts";
import { LastingFiles, ParsedFiles } from "../../src/manifest/parse.ts";
import { folder } from "./support.ts";

/** Notes which files were taken without being parsed. */
class Watched extends ParsedFiles {
  readonly taken: string[] = [];

  override take(file: string, text: string): ReturnType<ParsedFiles["take"]> {
    const tree = super.take(file, text);
    if (tree !== undefined) this.taken.push(file);
    return tree;
  }
}

const load = (directory: string, more: Partial<LoadOptions> = {}) =>
  loadProject({ directory, allowedSeconds: allowedSeconds("node"), ...more });

const ROOT = `tenon: 1
files: [zones/*.yaml]
variables: { ip: { default: 192.0.2.1 }, labels: { default: [web, db] } }
`;
const zone = (name: string, extra = "") => `tenon: 1
defaults: { domain: { type: master, soa_email: "a@\${zone}" } }
domains:
  - domain: ${name}
    records:
      - { type: A, name: 010, target: "\${var.ip}" }
      - { type: TXT, name: x, target: "v=\${zone} \${var.ip}" }${extra}
`;

const FILES = {
  "tenon.yaml": ROOT,
  "zones/a.yaml": zone("a.example"),
  "zones/anchors.yaml": zone("c.example", "\n      - &same { type: A, name: one, target: 192.0.2.9 }\n").concat(
    "  - domain: d.example\n    records: [*same, *same]\n".replace(", *same", ""),
  ),
  "zones/b.yaml": zone("b.example"),
};

/** Without the places, which are those of each project's own files. */
const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, item) => (/span/i.test(key) ? undefined : item)));

test("only the file that differs is parsed again, and both projects are what they are by themselves", async () => {
  const now = await folder(FILES);
  const before = await folder({
    ...FILES,
    "zones/b.yaml": zone("b.example", "\n      - { type: A, name: y, target: 192.0.2.2 }"),
  });
  const parsed = new Watched();
  const variables = { ip: "198.51.100.7" };
  const [head, base] = [await load(now, { parsed, variables }), await load(before, { parsed })];
  expect(parsed.taken.sort()).toEqual(["tenon.yaml", "zones/a.yaml", "zones/anchors.yaml"]);
  expect(head.diagnostics).toEqual([]);
  expect(plain(head.project?.desired)).toEqual(plain((await load(now, { variables })).project?.desired));
  expect(plain(base.project?.desired)).toEqual(plain((await load(before)).project?.desired));
  expect(JSON.stringify(base.project?.desired)).not.toContain("198.51.100.7");
});

test("a file of which something is reported is parsed again, and reports it again", async () => {
  const files = { ...FILES, "zones/b.yaml": "tenon: 1\ndomains: [\n" };
  const parsed = new Watched();
  const [now, before] = [await folder(files), await folder(files)];
  const [head, base] = [await load(now, { parsed }), await load(before, { parsed })];
  expect(parsed.taken.sort()).toEqual(["tenon.yaml", "zones/a.yaml", "zones/anchors.yaml"]);
  expect(head.diagnostics.map(({ code }) => code)).toEqual(base.diagnostics.map(({ code }) => code));
  expect(base.project).toBeNull();
});

test("errors of the base stand where its own files have them", async () => {
  const bad = zone("b.example").replace("type: A", "type: AAAA");
  const [now, before] = [await folder(FILES), await folder({ ...FILES, "zones/b.yaml": bad })];
  const parsed = new Watched();
  await load(now, { parsed });
  const [shared, alone] = [await load(before, { parsed, past: true }), await load(before, { past: true })];
  expect(shared.diagnostics.length).toBeGreaterThan(0);
  expect(shared.diagnostics).toEqual(alone.diagnostics);
});

test("a project that is loaded again and again parses each text once, and what was wrong with one load is forgotten in the next", async () => {
  const root = ROOT.replace("{ default: 192.0.2.1 }", "{}");
  const files = { ...FILES, "tenon.yaml": root, "zones/bad.yaml": "tenon: 1\ndomains: [\n" };
  const directory = await folder(files);
  const parsed = new LastingFiles();
  const variables = { ip: "192.0.2.1" };
  for (const more of [{}, { variables }, {}, { variables }]) {
    const [again, alone] = [await load(directory, { parsed, ...more }), await load(directory, more)];
    expect(again.diagnostics).toEqual(alone.diagnostics);
  }
  expect(parsed.parses).toBe(Object.keys(files).length);
});
