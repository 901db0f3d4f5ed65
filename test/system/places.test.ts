import { execFileSync, spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { folder } from "../cli/run.ts";

const ROOT = join(import.meta.dirname, "../..");

/** What is compiled, in a folder of its own. */
async function copyOfTree(): Promise<string> {
  const copy = await folder({});
  for (const part of [
    "src",
    "schemas",
    "package.json",
    "tsconfig.json",
    "tsconfig.build.json",
    ".dependency-cruiser.cjs",
  ])
    cpSync(join(ROOT, part), join(copy, part), { recursive: true });
  cpSync(join(ROOT, ".ci/imports.mjs"), join(copy, ".ci/imports.mjs"));
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  return copy;
}

const COMMAND = `/** \`tenon hello\`: greets. */

import type { Command } from "commander";
import { EXIT, type Finish } from "../exit.ts";
import type { Terminal } from "../terminal.ts";

export function define(command: Command, terminal: Terminal, finish: Finish): void {
  command
    .description("Greet somebody.")
    .argument("<name>", "who")
    .action((name: string) => {
      terminal.print(\`hello \${name}\\n\`);
      finish(EXIT.done);
    });
}
`;

const ENTRY = `  {
    name: "hello",
    usage: "<name>",
    summary: "greet somebody",
    access: "nothing",
    load: async () => (await import("./commands/hello.ts")).define,
  },
`;

it("a new command is one file under src/cli/commands and one entry of the list in src/cli/program.ts", async () => {
  const contributing = readFileSync(join(ROOT, "CONTRIBUTING.md"), "utf8");
  expect(contributing).toContain(
    "A new command: one file under `src/cli/commands`, one entry of the list in `src/cli/program.ts`",
  );
  const copy = await copyOfTree();
  writeFileSync(join(copy, "src/cli/commands/hello.ts"), COMMAND);
  const program = join(copy, "src/cli/program.ts");
  const text = readFileSync(program, "utf8");
  const first = "export const COMMANDS: readonly CommandEntry[] = [\n";
  expect(text).toContain(first);
  writeFileSync(program, text.replace(first, first + ENTRY));
  const node = (...args: readonly string[]): string =>
    execFileSync(process.execPath, args, { cwd: copy, encoding: "utf8", stdio: "pipe" });
  node("node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json");
  expect(node(".ci/imports.mjs")).toMatch(/ 0 violations/);
  expect(node("dist/cli/main.js", "hello", "world")).toBe("hello world\n");
  expect(node("dist/cli/main.js", "--help")).toMatch(/^ {2}hello <name> +greet somebody$/m);
  expect(node("dist/cli/main.js", "help", "hello")).toContain("Greet somebody.");
});

/** Puts `entry` before the line that `before` begins. */
function insert(copy: string, file: string, before: string, entry: string): void {
  const path = join(copy, file);
  const text = readFileSync(path, "utf8");
  expect(text.split(before)).toHaveLength(2);
  writeFileSync(path, text.replace(before, entry + before));
}

interface Tool {
  /** What the command prints, which exits with the code. */
  run(code: number, ...args: readonly string[]): string;
}

/** The command line of the copy, in a project folder, against the emulator of the copy. */
async function builtTool(copy: string, files: Readonly<Record<string, string>>): Promise<Tool> {
  const compile = ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"];
  expect(spawnSync(process.execPath, compile, { cwd: copy, encoding: "utf8" })).toMatchObject({
    stdout: "",
    status: 0,
  });
  const imports = execFileSync(process.execPath, [".ci/imports.mjs"], { cwd: copy, encoding: "utf8", stdio: "pipe" });
  expect(imports).toMatch(/ 0 violations/);
  const main = join(copy, "dist/cli/main.js");
  const emulator = spawn(process.execPath, [main, "emulate"]);
  onTestFinished(() => void emulator.kill("SIGKILL"));
  const url = await new Promise<string>((resolve) => {
    let text = "";
    emulator.stdout.on("data", (octets: Buffer) => {
      text += octets.toString();
      const found = /http:\S+\/v4/.exec(text);
      if (found !== null) resolve(found[0]);
    });
  });
  const cwd = await folder(files);
  const env = { PATH: process.env["PATH"], TENON_BASE_URL: url, TENON_TOKEN: "emulator-token" };
  return {
    run(code, ...args) {
      const ended = spawnSync(process.execPath, [main, ...args], { cwd, env, encoding: "utf8" });
      expect({ code: ended.status, stderr: ended.status === code ? "" : ended.stderr }).toEqual({ code, stderr: "" });
      return ended.stdout;
    },
  };
}

const URI = `  URI: { code: 256, values: ["priority", "weight"], target: "octets", required: ["priority", "weight"] },
`;

const EMULATED_URI = `  URI: { target: "value", values: ["priority", "weight"], required: ["priority", "weight"] },
`;

it("a new type of record is one entry of the table in src/dns/record.ts and one of the emulator's in src/emulator/store.ts", async () => {
  const contributing = readFileSync(join(ROOT, "CONTRIBUTING.md"), "utf8");
  expect(contributing).toContain(
    "A new type of record: one entry of the table in `src/dns/record.ts`, and one of the emulator's own in `src/emulator/store.ts`",
  );
  const copy = await copyOfTree();
  insert(copy, "src/dns/record.ts", '  PTR: { code: 12, values: [], target: "name" },\n', URI);
  insert(copy, "src/emulator/store.ts", '  PTR: { target: "name", values: [], required: [] },\n', EMULATED_URI);
  const domain = "domain: example.com, type: master, soa_email: hostmaster@example.com";
  const tool = await builtTool(copy, {
    "tenon.yaml": `tenon: 1\ndomains: [{ ${domain}, zone_file: example.zone, records: [
      { type: URI, name: _ftp._tcp, priority: 10, weight: 1, target: "ftp://ftp.example.com/public" } ] }]\n`,
    "example.zone": `_http._tcp 3600 IN URI 10 1 "https://www.example.com/path"
_ldap._tcp 3600 IN TYPE256 \\# 19 000a0001 6c6461703a2f2f6c6461702e612e62\n`,
    "wrong/tenon.yaml": `tenon: 1\ndomains: [{ ${domain}, records: [{ type: URI, port: 1, target: x }] }]\n`,
  });
  tool.run(0, "validate");
  expect(tool.run(2, "plan", "--detailed-exitcode")).toMatch(
    /\+ _http\._tcp +URI +10 1 "https:\/\/www\.example\.com\/path"/,
  );
  tool.run(0, "apply", "--yes");
  tool.run(0, "plan", "--detailed-exitcode");
  const exported = tool.run(0, "zone", "export", "example.com");
  expect(exported).toMatch(/^_ftp\._tcp +IN URI +10 1 "ftp:\/\/ftp\.example\.com\/public"$/m);
  expect(exported).toMatch(/^_http\._tcp +3600 IN URI +10 1 "https:\/\/www\.example\.com\/path"$/m);
  expect(exported).toMatch(/^_ldap\._tcp +3600 IN URI +10 1 "ldap:\/\/ldap\.a\.b"$/m);
  tool.run(3, "validate", "wrong");
}, 240_000);

const BEACON = `/** The beacon: a label and a description. */

import type { Declared } from "../../model/desired.ts";
import type { JsonObject, Values } from "../../model/resource.ts";
import { COMMON_KEYS, NO_FACTS, NO_RULES, OTHER_KEYS, type Unit } from "../../model/unit.ts";
import { NOWHERE, recogniseOne, request, rootAddresses, stated } from "../common.ts";
import { joinDescription, rootLabels, splitDescription } from "../owner-tag.ts";

interface BeaconSpec {
  readonly label: string;
  readonly description: string;
}

interface LiveBeacon extends BeaconSpec {
  readonly id: number;
}

const TEXT = { type: "string", minLength: 1 };

function declared(spec: BeaconSpec, rest: Partial<Declared<BeaconSpec>> = {}): Declared<BeaconSpec> {
  const { label } = spec;
  const common = { id: null, movedFrom: null, protect: false, note: null, span: NOWHERE };
  return { unit: "beacon", address: \`beacon/\${label}\`, key: label, ...common, ...rest, spec };
}

function valuesOf({ label, description }: LiveBeacon): Values {
  const { text, owner } = splitDescription(description);
  return { label, description: text, owner };
}

function bodyOf({ label, description, owner }: Values): JsonObject {
  return { label: label ?? "", description: joinDescription(String(description), owner === null ? null : String(owner)) };
}

export const beacon: Unit<BeaconSpec, LiveBeacon> = {
  name: "beacon",
  kinds: [{ kind: "beacon", words: ["beacon", "beacons"], nameField: "label", canBeDuplicated: true }],
  spec: {
    section: "beacons",
    removedKey: "beacon",
    layout: { keys: ["label", ...COMMON_KEYS, "description", OTHER_KEYS] },
    schema: {
      title: "Beacon",
      description: "A beacon.",
      type: "object",
      required: ["label"],
      additionalProperties: false,
      properties: { label: TEXT, description: TEXT, protect: { type: "boolean" }, note: TEXT },
    },
    definitions: {},
    load: (entry, context) =>
      declared(
        { label: String(entry["label"]), description: String(entry["description"] ?? "") },
        { protect: entry["protect"] === true, span: context.span(entry) },
      ),
    write: ({ label, description }) => ({ head: { label }, body: stated({ description: description || undefined }) }),
    removed: (label) => ({ address: \`beacon/\${label}\`, key: label, problem: null }),
  },
  async read(_, api, watch) {
    const answer = await api.list({ path: ["beacons"] }, watch.signal);
    if (!answer.ok) return { ok: false, what: "the list of beacons", failure: answer.failure };
    const items = answer.items as unknown as LiveBeacon[];
    return { ok: true, items, total: items.length };
  },
  identify: ({ id, label, description }) => ({
    id,
    key: label,
    address: \`beacon/\${label}\`,
    owner: splitDescription(description).owner,
    shown: {},
  }),
  canBeRenamed: false,
  list: (live) => [
    { kind: "beacon", address: \`beacon/\${live.label}\`, id: live.id, name: live.label, values: { label: live.label } },
  ],
  declare: ({ label, description }) => declared({ label, description: splitDescription(description).text }),
  valuesOf: (live) => ({ values: valuesOf(live), within: [] }),
  restate: ({ values: { label, description } }, { span }) =>
    declared({ label: String(label), description: String(description ?? "") }, { span }),
  normalise: (matches, context) => ({
    pairs: [...rootAddresses(matches, (live) => beacon.identify(live))].map(([match, address]) => {
      const before = match.live === null ? null : valuesOf(match.live);
      const spec = match.intent === "create" || match.intent === "manage" ? match.declared.spec : null;
      return {
        resource: {
          unit: "beacon",
          kind: "beacon",
          root: address,
          address,
          previousAddress: null,
          id: match.live?.id ?? null,
          before,
          after:
            match.intent === "release" ? { ...before, owner: null } : spec && { ...spec, owner: context.owner },
          labels: rootLabels(match, before, spec?.label ?? null, context),
          note: null,
          span: match.declared?.span ?? null,
        },
        rules: { ...NO_RULES, protect: match.declared?.protect ?? false },
      };
    }),
    freeSpace: [],
    leftAlone: [],
    warnings: [],
  }),
  steps: (changes, context) =>
    changes.flatMap((change) => {
      const { action, address, after, id } = change;
      const one = ["beacons", String(id)];
      if (action === "delete") return [{ step: request(change, \`delete \${address}\`, "DELETE", one, null), facts: NO_FACTS }];
      if (action === "no-op" || after === null) return [];
      const body = bodyOf(after);
      if (action === "update") return [{ step: request(change, \`update \${address}\`, "PUT", one, body), facts: NO_FACTS }];
      const known = context.idsOf(String(after["label"]));
      const lookup = { kind: "beacon", path: ["beacons"], filter: null, match: body, known };
      return [{ step: { ...request(change, \`create \${address}\`, "POST", ["beacons"], body), lookup }, facts: NO_FACTS }];
    }),
  precondition: () => null,
  recognise: (lookup, items) => recogniseOne(lookup, items, ({ label, description }) => ({ label: label ?? "", description: description ?? "" })),
};
`;

const BEACON_ROUTES = `/** The beacons of an account. */

import { type Answer, NOT_FOUND, succeed, succeedEmpty } from "./errors.ts";
import { byId, listAnswer } from "./lists.ts";
import { accountOf, type Call, idParam, type Route, type Service } from "./route.ts";
import type { BeaconRow } from "./store.ts";

const READ = ["images:read_only"];
const WRITE = ["images:read_write"];

export const BEACON_ROUTES: readonly Route[] = [
  { operation: "Beacons List", method: "GET", path: "/beacons", scopes: READ, handle: listBeacons },
  { operation: "Beacon Create", method: "POST", path: "/beacons", scopes: WRITE, handle: createBeacon },
  { operation: "Beacon Update", method: "PUT", path: "/beacons/:id", scopes: WRITE, handle: updateBeacon },
  { operation: "Beacon Delete", method: "DELETE", path: "/beacons/:id", scopes: WRITE, handle: deleteBeacon },
];

function find({ store }: Service, call: Call): BeaconRow | undefined {
  return store.tables.beacons.get(idParam(call, "id") ?? 0);
}

function view({ account: _, ...beacon }: BeaconRow): object {
  return beacon;
}

function put({ store }: Service, call: Call, id: number): Answer {
  const { label, description } = call.body as { label: string; description: string };
  const row = { id, account: accountOf(call), label, description };
  store.tables.beacons.put(row);
  return succeed(view(row));
}

function listBeacons({ store }: Service, call: Call): Answer {
  return listAnswer(call, { rows: byId(store.tables.beacons.list("account", accountOf(call))), fields: new Map(), toWire: view });
}

function createBeacon(service: Service, call: Call): Answer {
  return put(service, call, service.store.nextId("beacon"));
}

function updateBeacon(service: Service, call: Call): Answer {
  const found = find(service, call);
  return found === undefined ? NOT_FOUND : put(service, call, found.id);
}

function deleteBeacon(service: Service, call: Call): Answer {
  const found = find(service, call);
  if (found === undefined) return NOT_FOUND;
  service.store.tables.beacons.delete(found.id);
  return succeedEmpty();
}
`;

const BEACON_ROW = `export interface BeaconRow {
  readonly id: number;
  readonly account: string;
  readonly label: string;
  readonly description: string;
}

`;

it("a new kind is one folder under src/units and one line in src/units/index.ts, its routes and its table in the emulator, and its name in the saved formats", async () => {
  const contributing = readFileSync(join(ROOT, "CONTRIBUTING.md"), "utf8");
  expect(contributing).toContain("A new kind: one folder under `src/units`, one line in `src/units/index.ts`.");
  for (const place of [
    "src/emulator/routes.ts",
    "src/emulator/store.ts",
    "src/emulator/data-file.ts",
    "schemas/plan.schema.json",
    "schemas/drift.schema.json",
  ])
    expect(contributing).toContain(`\`${place}\``);
  const copy = await copyOfTree();
  mkdirSync(join(copy, "src/units/beacon"));
  writeFileSync(join(copy, "src/units/beacon/index.ts"), BEACON);
  const index = join(copy, "src/units/index.ts");
  const line = 'import { beacon } from "./beacon/index.ts";\n';
  writeFileSync(index, line + readFileSync(index, "utf8").replace("zone, image]", "zone, image, beacon]"));
  writeFileSync(join(copy, "src/emulator/beacons.ts"), BEACON_ROUTES);
  insert(
    copy,
    "src/emulator/routes.ts",
    "import { DOMAIN_IMPORT_ROUTES }",
    'import { BEACON_ROUTES } from "./beacons.ts";\n',
  );
  insert(copy, "src/emulator/routes.ts", "  ...VPC_ROUTES,\n", "  ...BEACON_ROUTES,\n");
  const store = "src/emulator/store.ts";
  insert(copy, store, "  readonly tickets: Table<TicketRow", '  readonly beacons: Table<BeaconRow, "account">;\n');
  insert(copy, store, "  ticket: 20_000_001,\n", "  beacon: 60_001,\n");
  insert(
    copy,
    store,
    "    tickets: new Table(",
    '    beacons: new Table({ account: (row) => row.account }, listen("beacons")),\n',
  );
  insert(copy, store, "export interface TicketRow", BEACON_ROW);
  insert(copy, "src/emulator/data-file.ts", "  tickets: true,\n", "  beacons: true,\n");
  for (const name of ["plan", "drift"]) {
    const path = join(copy, `schemas/${name}.schema.json`);
    // Both the kinds and the units.
    writeFileSync(
      path,
      readFileSync(path, "utf8").replaceAll(/("domain_record"|"zone"), "image"(?=\])/g, '$&, "beacon"'),
    );
  }
  const manifest = (entries: string) => `tenon: 1\nowner: edge\n\nbeacons:\n${entries}`;
  const north = "  - label: north\n    description: First\n";
  const south = "\n  - label: south\n";
  const tool = await builtTool(copy, {
    "tenon.yaml": manifest(north + south),
    "later/tenon.yaml": manifest("  - label: north\n    description: Second\n"),
    "wrong/tenon.yaml": manifest("  - label: north\n    height: 3\n"),
    "messy/tenon.yaml": manifest("  - description: First\n    label: north\n"),
  });
  tool.run(0, "validate");
  expect(tool.run(3, "validate", "wrong", "--format", "json")).toContain("`height`");
  tool.run(0, "fmt", "--check");
  tool.run(1, "fmt", "--check", "messy");
  const planned = tool.run(2, "plan", "--detailed-exitcode", "--out", "saved.plan");
  expect(planned).toMatch(/^\+ beacon north\n {4}description {2}"First"$/m);
  expect(planned).toContain("Plan: 2 to add, 0 to change, 0 to destroy.");
  expect(tool.run(0, "show", "saved.plan")).toBe(planned);
  tool.run(0, "apply", "--plan", "saved.plan", "--yes");
  expect(tool.run(0, "plan", "--detailed-exitcode")).toMatch(/^No changes\./);
  expect(tool.run(0, "drift")).toMatch(/^No drift\./);
  expect(tool.run(2, "drift", "later")).toMatch(/^changed +beacon\/north$/m);
  expect(tool.run(0, "import", "--owner", "edge", "--out", "imported")).toContain("Imported 2 beacons into imported");
  expect(tool.run(0, "plan", "imported", "--detailed-exitcode")).toMatch(/^No changes\./);
  // What is declared no longer is pruned with consent only.
  expect(tool.run(4, "apply", "later", "--yes")).toContain("beacon/south would be deleted");
  tool.run(0, "apply", "later", "--yes", "--allow", "delete=beacon/south");
  expect(tool.run(0, "plan", "later", "--detailed-exitcode")).toMatch(/^No changes\./);
  expect(tool.run(0, "destroy", "later", "--yes")).toContain("1 destroyed");
}, 240_000);
