/** `tenon completion`: the scripts, and what their shells are offered. Real shells are in test/system. */

import { describe, expect, it } from "vitest";
import { here } from "./here.ts";
import { expectPlain, folder, run } from "./run.ts";

const MANIFEST = `tenon: 1
variables: { env: {} }
environments: { staging: { variables: { env: a } }, production: { variables: { env: b } } }
vpcs: [{ label: "prod-\${var.env}", region: us-east, subnets: [{ label: web, ipv4: 10.0.1.0/24 }] }]
domains:
  - domain: example.com
    type: master
    soa_email: a@example.com
    records: [{ type: A, name: www, target: 192.0.2.1 }]
`;

/** @param words the last of them is being typed */
async function offered(words: readonly string[], files: Readonly<Record<string, string>> = { "tenon.yaml": MANIFEST }) {
  const typed = [...words.slice(0, -1), `=${words.at(-1)}`];
  const ended = await here(["completion", "--complete", "--", ...typed], { cwd: await folder(files) });
  expect([ended.code, ended.stderr]).toEqual([0, ""]);
  const [paths, ...lines] = ended.stdout.split("\n").slice(0, -1);
  return { paths, values: lines.map((line) => line.split("\t")[0]) };
}

describe("what is offered", () => {
  it.each<[string[], string, string[]]>([
    [["va"], "none", ["validate"]],
    [["zone", ""], "none", ["export", "check"]],
    [["plan", "--detailed"], "none", ["--detailed-exitcode"]],
    [["plan", "--format", ""], "none", ["text", "json", "markdown", "html"]],
    [["plan", "--format=m"], "none", ["--format=markdown"]],
    [["plan", "--env", ""], "none", ["staging", "production"]],
    [["plan", "--target", "vpc"], "none", ["vpc/prod-a"]],
    [["plan", "--env", "production", "--target", "vpc"], "none", ["vpc/prod-b"]],
    [["plan", "--var", "env=x", "--target", "vpc/"], "none", ["vpc/prod-x"]],
    [["plan", "--target", "vpc/prod-a/"], "none", ["vpc/prod-a/subnet/web"]],
    [["apply", "--allow", "delete=d"], "none", ["delete=domain/example.com"]],
    [["output", "domain/example.com/"], "none", ["domain/example.com/www/A"]],
    [["show", "d"], "files", ["domain/example.com"]],
    [["list", "--domain", ""], "none", ["example.com"]],
    [["list", "re"], "none", ["records"]],
    [["explain", "vpcs.subnets.i"], "none", ["vpcs.subnets.ipv4"]],
    [["explain", "ambiguous-t"], "none", ["ambiguous-target"]],
    [["help", "va"], "none", ["validate"]],
    [["help", "zone", "c"], "none", ["check"]],
    [["completion", ""], "none", ["bash", "zsh", "fish", "powershell"]],
    [["plan", ""], "dirs", []],
    [["apply", "--plan", ""], "files", []],
    [["plan", "infra", ""], "none", []],
    [["plan", "--", "--en"], "dirs", []],
    [["nothing", "--nope", "x"], "none", []],
  ])("behind %j is %s, and %j", async (words, paths, values) => {
    expect(await offered(words)).toEqual({ paths, values });
  });

  it("is the journals of the project for an undo, the newest first", async () => {
    const times = ["2026-11-22T10-00-00.000Z", "2026-11-23T10-00-00.000Z"];
    const [old = "", recent = ""] = times.map((time) => `.tenon/journal/${time}.jsonl`);
    const files = { "tenon.yaml": MANIFEST, [old]: "", [recent]: "", ".tenon/journal/notes": "" };
    expect(await offered(["undo", ""], files)).toEqual({ paths: "files", values: [recent, old] });
    expect(await offered(["apply", "--undo", ""], files)).toEqual({ paths: "files", values: [recent, old] });
    expect(await offered(["undo", ""])).toEqual({ paths: "files", values: [] });
    expect((await offered(["explain", ""])).values).not.toContain("ambiguous-target");
  });

  it("is of the project that the command line names", async () => {
    const files = { "infra/tenon.yaml": MANIFEST };
    expect((await offered(["plan", "infra", "--target", "vpc"], files)).values).toEqual(["vpc/prod-a"]);
    expect((await offered(["show", "--project", "infra", "vpc"], files)).values).toEqual(["vpc/prod-a"]);
    expect((await offered(["show", "vpc"], files)).values).toEqual([]);
  });

  it("is nothing, in silence, beside a manifest that is broken or hides something", async () => {
    expect((await offered(["plan", "--target", ""], { "tenon.yaml": "tenon: [" })).values).toEqual([]);
    const hidden = "tenon: 1\nenvironments: { 'a\u202eb': {}, ok: {} }\n";
    expect((await offered(["plan", "--env", ""], { "tenon.yaml": hidden })).values).not.toContain("a\u202eb");
  });

  it("is at most a thousand words", async () => {
    const domains = Array.from({ length: 1_200 }, (_, index) => `d${index}.example`).join(", ");
    const manifest = `tenon: 1\ndomains: [{ domain: [${domains}], type: master, soa_email: a@example.com }]\n`;
    expect((await offered(["plan", "--target", ""], { "tenon.yaml": manifest })).values).toHaveLength(1_000);
    expect((await offered(["plan", "--target", "domain/d1199"], { "tenon.yaml": manifest })).values).toHaveLength(1);
  });
});

describe("tenon completion", () => {
  it.each(["bash", "zsh", "fish", "powershell"])("prints a script for %s that asks for what fits", async (shell) => {
    const { code, stdout, stderr } = await run(["completion", shell]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("completion --complete -- ");
    expect(stdout).not.toMatch(/\beval\b/);
  });

  it("of another shell, or of none, is an error", async () => {
    expectPlain(await here(["completion", "csh"], {}), 1, ["there is no script for csh", "Name one of bash, zsh"]);
    expectPlain(await here(["completion"], {}), 1, ["no shell is named"]);
    expect((await here(["completion", "--help"], {})).stdout).not.toContain("--complete");
  });
});
