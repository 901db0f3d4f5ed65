import { writeFileSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCommand } from "../../src/cli/program.ts";
import { here as run, terminalOf } from "./here.ts";
import { expectPlain, folder } from "./run.ts";

const UNTIDY = `owner: edge # ours
tenon: 1
files: ["*.zone.yaml"]
domains: []
`;
const ZONE = "domains: [{domain: a.example, type: master, soa_email: a@a.example}]\ntenon: 1\n";

describe("tenon fmt", () => {
  it("rewrites all manifests of a project that differ, and names them", async () => {
    const cwd = await folder({ "tenon.yaml": UNTIDY, "a.zone.yaml": ZONE, "other.yaml": ZONE });
    expect(await run(["fmt"], { cwd })).toEqual({ code: 0, stdout: "tenon.yaml\na.zone.yaml\n", stderr: "" });
    expect(await readFile(join(cwd, "tenon.yaml"), "utf8")).toBe(
      'tenon: 1\nowner: edge # ours\nfiles: ["*.zone.yaml"]\n\ndomains: []\n',
    );
    expect(await readFile(join(cwd, "other.yaml"), "utf8")).toBe(ZONE);
    expect(await run(["fmt"], { cwd })).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(await run(["fmt", "--check"], { cwd })).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  it("leaves alone what somebody saved since it was read, names it and exits 1; what stands beside it is formatted", async () => {
    const files = { "tenon.yaml": UNTIDY, "a.zone.yaml": ZONE, "b.zone.yaml": ZONE.replace("a.example", "b.example") };
    const cwd = await folder(files);
    const saved = ZONE.replace("a@a.example", "editor@a.example");
    let stdout = "";
    let stderr = "";
    // The first file is written by then, and the others were read with it.
    const terminal = terminalOf({}, (stream, text) => {
      if (stream === "stderr") stderr += text;
      else stdout += text;
      if (text === "tenon.yaml\n") writeFileSync(join(cwd, "a.zone.yaml"), saved);
    });
    expect(await runCommand(terminal, ["fmt", cwd])).toBe(1);
    expect(stdout).toBe("tenon.yaml\nb.zone.yaml\n");
    expect(stderr.replace(/\s+/g, " ")).toContain(
      "a.zone.yaml was changed while it was formatted, and is left as it is",
    );
    expect(await readFile(join(cwd, "a.zone.yaml"), "utf8")).toBe(saved);
    expect((await readdir(cwd)).sort()).toEqual(Object.keys(files).sort());
  });

  it("does not take a byte order mark, or line ends of Windows, for a change", async () => {
    const cwd = await folder({ "tenon.yaml": `\ufeff${UNTIDY.replaceAll("\n", "\r\n")}`, "a.zone.yaml": ZONE });
    expect(await run(["fmt"], { cwd })).toEqual({ code: 0, stdout: "tenon.yaml\na.zone.yaml\n", stderr: "" });
  });

  it("with --check writes nothing, names what differs and exits 1", async () => {
    const cwd = await folder({ "tenon.yaml": UNTIDY, "a.zone.yaml": ZONE });
    expect(await run(["fmt", "--check"], { cwd })).toEqual({
      code: 1,
      stdout: "tenon.yaml\na.zone.yaml\n",
      stderr: "",
    });
    expect(await readFile(join(cwd, "tenon.yaml"), "utf8")).toBe(UNTIDY);
  });

  it("touches nothing if a file has a syntax error, and says where", async () => {
    const cwd = await folder({ "tenon.yaml": UNTIDY, "a.zone.yaml": "tenon: 1\ndomains: [\n" });
    expectPlain(await run(["fmt"], { cwd }), 3, [/a\.zone\.yaml:\d+/]);
    expect(await readFile(join(cwd, "tenon.yaml"), "utf8")).toBe(UNTIDY);
  });

  it("formats what does not validate, and needs no values of variables", async () => {
    const cwd = await folder({ "tenon.yaml": "variables: { a: {} }\nunknown: ${var.a}\ntenon: 1\n" });
    expect(await run(["fmt"], { cwd })).toEqual({ code: 0, stdout: "tenon.yaml\n", stderr: "" });
  });

  it("does not write outside the project, through links neither, and keeps permissions", async () => {
    const outside = await folder({ "b.yaml": ZONE });
    const cwd = await folder({ "tenon.yaml": 'files: ["zones/*.yaml", "../x.yaml"]\ntenon: 1\n' });
    await mkdir(join(cwd, "zones"));
    await symlink(join(outside, "b.yaml"), join(cwd, "zones", "b.yaml"));
    expectPlain(await run(["fmt"], { cwd }), 3, ["outside"]);
    expect(await readFile(join(outside, "b.yaml"), "utf8")).toBe(ZONE);

    await writeFile(join(cwd, "tenon.yaml"), UNTIDY);
    await chmod(join(cwd, "tenon.yaml"), 0o600);
    await run(["fmt"], { cwd });
    expect((await stat(join(cwd, "tenon.yaml"))).mode & 0o777).toBe(0o600);
  });

  it("of no project says so", async () => {
    expectPlain(await run(["fmt", "nowhere"]), 1, ["no-project"]);
  });
});

it("writes through no link to a folder that leads out of the working folder", async () => {
  const text = "tenon:   1\n";
  const [cwd, outside] = [await folder({}), await folder({ "tenon.yaml": text })];
  await symlink(outside, join(cwd, "link"));
  expectPlain(await run(["fmt", "link"], { cwd }), 1, ["link leads out of this folder by a symbolic link"]);
  expect(await readFile(join(outside, "tenon.yaml"), "utf8")).toBe(text);
});
