/** `--format html` and `--html-into FILE`: pages, on stdout and beside what a person reads. */

import { readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { here } from "./here.ts";
import { emulator, envOf, expectPlain, folder, PROJECT, run } from "./run.ts";
import { faults } from "./stage.ts";

async function project(manifest = PROJECT) {
  const service = await emulator();
  const cwd = await folder({ "tenon.yaml": manifest });
  const text = (file = "the.html") => readFile(join(cwd, file), "utf8");
  return { service, text, options: { cwd, env: envOf(service) } };
}

const PAGE = /^<!doctype html>\n[\s\S]*<\/html>\n$/;
const titleOf = (page: string): string => /<title>([^<]*)<\/title>/.exec(page)?.[1] ?? "";

describe("--html-into", () => {
  it.each(["plan", "drift"])("of %s writes what --format html prints, beside the text", async (command) => {
    const { text, options } = await project();
    const plain = await run([command], options);
    const both = await run([command, "--html-into", "the.html"], options);
    expect(both).toEqual(plain);
    const printed = await run([command, "--format", "html"], options);
    expect(printed).toEqual({ ...plain, stdout: await text() });
    expect(printed.stdout).toMatch(PAGE);
    expect((await stat(join(options.cwd, "the.html"))).mode & 0o777).toBe(0o600);
    expect((await readdir(options.cwd)).sort()).toEqual(["tenon.yaml", "the.html"]);
  });

  it("of apply is the plan where nothing was done, and the report where something was, or there was nothing to do", async () => {
    const { text, options } = await project();
    const into = ["--html-into", "the.html"];
    expect((await here(["apply", ...into], options)).code).toBe(1);
    expect(titleOf(await text())).toBe("Plan: 5 to add, 0 to change, 0 to destroy.");
    const limited = await here(["apply", "--yes", "--max-changes", "1", ...into], options);
    expect(limited.code).toBe(4);
    expect(await text()).toContain('<section id="guards"');
    const applied = await run(["apply", "--yes", "--format", "html", "--json-into", "the.json", ...into], options);
    expect(applied.code).toBe(0);
    expect(applied.stdout).toBe(await text());
    expect(titleOf(applied.stdout)).toBe("Apply complete: 5 added, 0 changed, 0 destroyed.");
    expect(JSON.parse(await text("the.json"))).toMatchObject({ type: "report" });
    expect((await here(["apply", "--yes", ...into], options)).code).toBe(0);
    expect(titleOf(await text())).toBe("No changes. Your infrastructure matches the configuration.");
    await here(["destroy", "--yes", ...into], options);
    expect(await text()).toContain("tenon destroy");
  });

  it("of an apply that a failure ended gives each of many alike objects its own outcome", async () => {
    const names = ["a", "b", "c", "d", "e", "f"].map((name) => `${name}.example`);
    const domains = names.map((domain, index) => ({
      ...{ id: 7 + index, domain, type: "master" as const, soa_email: "a@a.example", tags: ["tenon:team"] },
    }));
    for (const failing of [7, 9]) {
      const service = await emulator({
        seed: { domains },
        ...faults(`status=400,method=DELETE,path=/domains/${failing}`),
      });
      const cwd = await folder({ "tenon.yaml": "tenon: 1\nowner: team\n" });
      const args = ["apply", "--yes", "--allow", "delete=*", "--html-into", "the.html"];
      expect((await here(args, { cwd, env: envOf(service) })).code).toBe(6);
      const page = await readFile(join(cwd, "the.html"), "utf8");
      const states = [...page.matchAll(/ data-root="domain\/([^"]+)" data-kind="domain" data-state="(\w+)"/g)];
      const failed = names[failing - 7];
      const expected = names.map((name) => `${name} ${name === failed ? "failed" : "done"}`);
      expect(states.map(([, name, state]) => `${name} ${state}`).sort()).toEqual(expected);
      // What a heading says of many is true of each.
      const headings = [...page.matchAll(/<summary>.*?<\/summary>/gs)].map(([text]) => text);
      expect(headings.filter((text) => text.includes(' class="state failed"')).length).toBe(1);
      expect(headings.find((text) => text.includes(' class="state failed"'))).toContain(failed);
    }
  });

  it("of an apply that the reviewed plan does not cover says first what that does not show", async () => {
    const vpcs = (labels: string) => `tenon: 1\nvpcs: [${labels}]\n`;
    const { text, options } = await project(vpcs("{ label: a, region: us-east }"));
    expect((await here(["plan", "--out", "the.plan"], options)).code).toBe(0);
    await writeFile(
      join(options.cwd, "tenon.yaml"),
      vpcs("{ label: a, region: us-east }, { label: b, region: us-east }"),
    );
    const flags = ["--yes", "--plan", "the.plan", "--html-into", "the.html"];
    expect((await here(["apply", ...flags], options)).code).toBe(5);
    expect(await text()).toMatch(/<main id="main">\s*<section id="unreviewed"[\s\S]*?create vpc\/b/);
  });

  it("writes nothing where there is nothing to show, and refuses a place that cannot be written before it begins", async () => {
    const { service, text, options } = await project("tenon: 1\nvpcs: [{ label: a }]\n");
    for (const command of ["plan", "apply", "drift"]) {
      expect((await here([command, "--html-into", "the.html"], options)).code).toBe(3);
      expect((await here([command, "--format", "html"], options)).stdout).toBe("");
    }
    await expect(text()).rejects.toThrow("ENOENT");
    await symlink("/etc", join(options.cwd, "out"));
    for (const [place, why] of [
      ["no-such-folder/the.html", /the page cannot be written/],
      ["out/the.html", /the page cannot be written/],
      ["-", /- is stdout, and that is what --format html is for/],
    ] as const) {
      expectPlain(await here(["plan", "--html-into", place], options), 1, [why]);
    }
    expect(service.requests).toEqual([]);
  });
});

describe("--format html", () => {
  it("of show is the page of a saved plan, and is for plans alone", async () => {
    const { options } = await project();
    const planned = await run(["plan", "--out", "the.plan", "--format", "html"], options);
    const shown = await run(["show", "the.plan", "--format", "html"], options);
    expect(shown).toEqual({ code: 0, stdout: planned.stdout, stderr: "" });
    for (const args of [
      ["show", "vpc/prod"],
      ["show", "--expanded"],
    ])
      expectPlain(await here([...args, "--format", "html"], options), 1, ["html is for plans"]);
  });

  it("of a list has its rows, and without a kind everything that is in the account", async () => {
    const { options } = await project();
    expect((await here(["apply", "--yes"], options)).code).toBe(0);
    const records = await run(["list", "records", "--domain", "example.*", "--type", "A", "--format", "html"], options);
    expect(records).toMatchObject({ code: 0, stderr: "" });
    expect(records.stdout).toMatch(PAGE);
    expect(titleOf(records.stdout)).toBe("1 record fits");
    expect(records.stdout).toContain("192.0.2.1");
    const account = await run(["list", "--format", "html"], options);
    expect(account).toMatchObject({ code: 0, stderr: "" });
    expect(titleOf(account.stdout)).toBe("The account: 1 VPC, 1 subnet, 1 domain, 2 records, 0 images");
    const none = await run(["list", "images", "--format", "html"], options);
    expect(none.stdout).toContain("No images.");
  });

  it("of the account leaves out what the token may not read, and says so", async () => {
    const service = await emulator({ seed: { tokens: [{ token: "emulator-token", scopes: ["domains:read_only"] }] } });
    const cwd = await folder({});
    const { code, stdout, stderr } = await run(["list", "--format", "html"], { cwd, env: envOf(service) });
    expect(code).toBe(0);
    expect(titleOf(stdout)).toBe("The account: 0 domains, 0 records");
    expect(stderr).toContain("warning: the token may not read the list of VPCs");
  });

  it("of a watch is refused: news is no page", async () => {
    const { options } = await project();
    for (const flags of [
      ["--format", "html"],
      ["--html-into", "the.html"],
    ])
      expectPlain(await here(["drift", "--watch", ...flags], options), 1, [/--watch and .* conflict/]);
  });
});
