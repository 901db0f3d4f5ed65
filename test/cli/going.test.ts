/** What goes as a whole, as `plan` tells it: how much goes with it, and whether another environment declares it. */

import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { here } from "./here.ts";
import { emulator, envOf, folder } from "./run.ts";

const ZONE = "type: master, soa_email: a@example.com";
const TAGGED = { soa_email: "a@example.com", tags: ["tenon:edge"] };

describe("a zone that goes as a whole", () => {
  it("says how many of its records it had been told to ignore, where the base says so", async () => {
    const txt = (name: string) => ({ type: "TXT" as const, name, target: "x" });
    const records = [txt("_acme-challenge"), txt("_acme-challenge.www"), txt("words")];
    const service = await emulator({ seed: { domains: [{ id: 1, domain: "e1.test", ...TAGGED, records }] } });
    const cwd = await folder({ "tenon.yaml": "tenon: 1\nowner: edge\n" });
    await mkdir(join(cwd, "base"));
    await writeFile(
      join(cwd, "base/tenon.yaml"),
      `tenon: 1\nowner: edge\ndomains: [{ domain: e1.test, ${ZONE}, ignore: [{ name: "_acme*" }], records: [] }]\n`,
    );
    const options = { cwd, env: envOf(service) };
    const alone = await here(["plan"], options);
    expect(alone.stdout).toMatch(/^- domain e1\.test and its 3 records \(prune: no longer declared\)$/m);
    const beside = await here(["plan", "--base", "./base"], options);
    expect(beside.stdout).toMatch(/^- domain e1\.test and its 3 records, 2 of them ignored$/m);
    const { stdout } = await here(["plan", "--base", "./base", "--format", "json"], options);
    expect(JSON.parse(stdout).tenon.changes["domain/e1.test"].holds).toEqual({ records: 3, ignored: 2 });
  });
});

describe("a base beside links of the project", () => {
  it("is not read where one leads to a file of variables, or to the project: a change can bring it", async () => {
    const service = await emulator();
    const text = "tenon: 1\nvariables: { label: {} }\nvpcs: [{ label: '${var.label}', region: us-east }]\n";
    const cwd = await folder({ "tenon.yaml": text, "base/tenon.yaml": text, "vars2/a.yaml": "label: a\n" });
    await symlink("vars2", join(cwd, "vars"));
    await symlink(cwd, join(cwd, "base/again"));
    const options = { cwd, env: envOf(service) };
    for (const [args, link] of [
      [["--var-file", "vars/a.yaml"], "vars"],
      [["--var-file", "base/again/vars2/a.yaml"], "base/again"],
      [["base/again", "--var-file", "vars2/a.yaml"], "base/again"],
    ] as const) {
      const { code, stdout, stderr } = await here(["plan", ...args, "--base", "./base"], options);
      expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: "" });
      expect(stderr).toContain(`error[base-unreadable]: ${link} is a symbolic link`);
    }
    expect((await here(["plan", "--var-file", "vars2/a.yaml", "--base", "./base"], options)).code).toBe(0);
    // Without a base nothing is compared.
    expect((await here(["plan", "--var-file", "vars/a.yaml"], options)).code).toBe(0);
  });
});

const ENVIRONMENTS = `tenon: 1
owner: edge
variables: { env: { default: none }, more: { default: "" } }
environments:
  dev: { variables: { env: dev } }
  prod: { variables: { env: prod } }
  staging: { variables: { env: staging } }
images: [{ label: "golden-\${var.env}", upload: { file: "\${var.env}.img.gz", region: us-east } }]
`;

const image = (id: number, label: string) => ({ id: `private/${id}`, label, description: "x [tenon:edge]" });

/** What `plan` and `apply` make of a manifest beside these images, of which one is that of the environment itself. */
async function planned(manifest: string, labels: readonly string[], flags: readonly string[] = ["--env", "dev"]) {
  const seed = { images: labels.map((label, index) => image(index + 1, label)) };
  const service = await emulator({ seed });
  const cwd = await folder({ "tenon.yaml": manifest });
  // Those of the other environments are not on this machine.
  for (const name of ["dev", "none"]) await writeFile(join(cwd, `${name}.img.gz`), gzipSync(Buffer.alloc(1024)));
  const options = { cwd, env: { ...envOf(service), TENON_ACCOUNT: "a" } };
  const text = await here(["plan", ...flags], options);
  const json = await here(["plan", "--format", "json", ...flags], options);
  const guards = JSON.parse(json.stdout).tenon.guards as { address: string; declaredUnder?: string[] }[];
  const under = Object.fromEntries(guards.map(({ address, declaredUnder }) => [address, declaredUnder]));
  return { service, options, flags, text: text.stdout, under };
}

describe("a project of several environments with one owner", () => {
  it("says with which --env the object is declared that another --env would delete", async () => {
    const { text, under, options, service } = await planned(ENVIRONMENTS, ["golden-dev", "golden-prod", "gone"]);
    expect(under).toEqual({ "image/golden-prod": ["prod"], "image/gone": undefined });
    expect(text).toContain(`Apply would refuse this plan:
  image/golden-prod would be deleted: it carries our tag and is declared with
     --env prod, not with --env dev
      Give each environment its own owner, e.g. owner: edge-\${var.env}
      --allow delete=image/golden-prod
      or under allow: in the root file:  - { delete: image/golden-prod }
  image/gone would be deleted: it carries our tag and is no longer declared
      --allow delete=image/gone
`);
    const markdown = await here(["plan", "--env", "dev", "--format", "markdown"], options);
    expect(markdown.stdout).toContain(
      "image/golden-prod would be deleted: it carries our tag and is declared with --env prod,",
    );
    expect(markdown.stdout).toContain("    Give each environment its own owner, e.g. owner: edge-${var.env}\n");
    service.clearRequests();
    const applied = await here(["apply", "--env", "dev", "--yes"], options);
    expect(applied).toMatchObject({ code: 4, stdout: expect.stringMatching(/declared with\s+--env prod/) });
    const events = await here(["apply", "--env", "dev", "--yes", "--format", "json"], options);
    const refused = JSON.parse(events.stdout.trimEnd().split("\n").at(-1) ?? "");
    expect(refused).toMatchObject({
      type: "refused",
      guards: [{ declaredUnder: ["prod"] }, { address: "image/gone" }],
    });
    expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  });

  it("says so in a saved plan, too, and when that is applied", async () => {
    const { options } = await planned(ENVIRONMENTS, ["golden-dev", "golden-prod"]);
    await here(["plan", "--env", "dev", "--out", "the.plan"], options);
    const shown = await here(["show", "the.plan"], options);
    expect(shown.stdout).toMatch(/declared with\s+--env prod/);
    const applied = await here(["apply", "--yes", "--plan", "the.plan"], options);
    expect(applied).toMatchObject({ code: 4, stdout: expect.stringMatching(/declared with\s+--env prod/) });
  });

  it("says so of many at once, apart from those that nothing declares", async () => {
    const many = ENVIRONMENTS.replace(
      /^images: .*$/m,
      'images: [{ label: "a-${var.env}" }, { label: "b-${var.env}" }, { label: "c-${var.env}" }, { label: "d-${var.env}" }]',
    );
    const names = ["a", "b", "c", "d"].flatMap((name) => [`${name}-dev`, `${name}-staging`, `${name}-old`]);
    const { text } = await planned(many, names);
    expect(text).toMatch(/ {2}4 images would be deleted: they carry our tag and are no longer declared\n/);
    expect(text).toMatch(
      / {2}4 images would be deleted: they carry our tag and are declared with --env\n {5}staging, not with --env dev\n {6}Give each/,
    );
  });

  it("knows of every environment that declares it, and of a run without one", async () => {
    const shared = ENVIRONMENTS.replace("golden-${var.env}", "golden-${var.more}").replaceAll(
      /env: (prod|staging) }/g,
      "env: $1, more: x }",
    );
    const { text, under } = await planned(shared, ["golden-", "golden-x"], []);
    expect(under).toEqual({ "image/golden-x": ["prod", "staging"] });
    expect(text.replace(/\n +/g, " ")).toContain("is declared with --env prod and --env staging, not without --env");
  });

  it("knows each environment by its own values, whatever the command line gives for this one", async () => {
    const flags = ["--env", "dev", "--var", "env=dev"];
    const { under } = await planned(ENVIRONMENTS, ["golden-dev", "golden-prod"], flags);
    expect(under).toEqual({ "image/golden-prod": ["prod"] });
  });

  it.each([
    [
      "does not load",
      `${ENVIRONMENTS.replace("env: prod }", 'env: prod, more: ".." }')}domains: [{ domain: "x\${var.more}.example", ${ZONE} }]\n`,
    ],
    [
      "has another owner",
      ENVIRONMENTS.replace("owner: edge", "owner: edge${var.more}").replace("env: prod }", "env: prod, more: -prod }"),
    ],
    [
      "is for another account",
      ENVIRONMENTS.replace("owner: edge", 'owner: edge\naccount: "a${var.more}"').replace(
        "env: prod }",
        "env: prod, more: b }",
      ),
    ],
  ])("is silent about an environment that %s", async (_, manifest) => {
    const { under, text } = await planned(manifest, ["golden-dev", "golden-prod"], ["--env", "dev"]);
    expect(under).toEqual({ "image/golden-prod": undefined });
    const told = text.replace(/\n +/g, " ");
    expect(told).toContain("image/golden-prod would be deleted: it carries our tag and is no longer declared --allow");
  });
});
