/** `tenon explain`: fields of a manifest and codes of messages, on the real command line. */

import { describe, expect, it } from "vitest";
import { here } from "./here.ts";
import { expectPlain, run } from "./run.ts";

const explain = (...args: string[]) => here(["explain", ...args], {});

describe("tenon explain", () => {
  it("of a field says its type, values, default and reason, in a real process without a project or a service", async () => {
    const { code, stdout, stderr } = await run(["explain", "domain.status"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toBe(`domains.status (Status)
  one of active, disabled, null; default: active

  Whether the domain is served.
`);
  });

  it("of a short path explains the one field that it fits, or says of each what it is", async () => {
    const { code, stdout } = await run(["explain", "ttl"]);
    expect(code).toBe(0);
    expect(stdout.match(/^\S+ {2}<.*>$/gm)).toEqual([
      "defaults.domain.ttl_sec  <whole number, or null>",
      "defaults.record.ttl_sec  <whole number>",
      "domains.ttl_sec  <whole number, or null>",
      "domains.records.ttl_sec  <whole number>",
    ]);
    expect(stdout.split("\n").every((line) => line.length <= 80)).toBe(true);
    expect((await explain("record.ttl")).stdout).toContain("2 fields fit record.ttl");
    expect((await explain("refresh")).stdout).toContain("2 fields fit refresh");
    expect((await explain("ipv4")).stdout).toContain("vpcs.subnets.ipv4 (IPv4 range)\n");
    expect((await explain("disk_id")).stdout).toMatch(/^images\.capture\.disk_id /);
    const paths = JSON.parse((await explain("label", "--format", "json")).stdout).map(
      ({ path }: { path: string }) => path,
    );
    expect(paths).toEqual(["vpcs.label", "vpcs.subnets.label", "images.label"]);
  });

  it("of a type of record shows the fields that it takes", async () => {
    const { stdout } = await explain("domain.records.mx");
    expect(stdout).toContain("domains.records.MX (MX record)");
    expect(stdout).toContain("  { type: MX, target: mx.example.net., priority: 10 }");
    expect(stdout).not.toContain("weight");
  });

  it("of nothing lists what a manifest has, and all levels of it with --recursive", async () => {
    expect((await explain()).stdout).toContain("  record_sets ");
    expect((await explain("vpcs", "--recursive")).stdout).toContain("subnets  <list of objects>\n  label  <text>\n");
  });

  it("of a code says what it finds, why, and what to do", async () => {
    const { stdout } = await explain("mx-without-spf");
    expect(stdout).toContain("mx-without-spf, a lint warning");
    expect(stdout).toContain("lint: { off: [mx-without-spf] }");
    expect((await explain("token-in-plan")).stdout).toContain("an error of the command line");
    const { stdout: ofManifest } = await explain("bad-range");
    expect(ofManifest).toMatch(
      /^bad-range, an error\n\nFor example:\n\nerror\[bad-range\]: bad `ipv4` range\n {2}--> tenon\.yaml:/,
    );
    expect((await explain("likely-rename")).stdout).toContain("likely-rename, a warning\n");
    expect((await explain("base-invalid")).stdout).toContain("The message itself says what is wrong");
    expect(JSON.parse((await explain("cname-loop", "--format", "json")).stdout)).toMatchObject({
      ...{ code: "cname-loop", severity: "error" },
    });
  });

  it("is JSON, too", async () => {
    expect(JSON.parse((await explain("vpcs.subnets.ipv4", "--format", "json")).stdout)).toMatchObject({
      ...{ path: "vpcs.subnets.ipv4", type: "text", required: true },
    });
  });

  it("is an error of what there is not, with what is near", async () => {
    expectPlain(await explain("domains.recrods"), 1, ["domains has no field recrods", "Did you mean `records`?"]);
    expectPlain(await explain("mx-without-sfp"), 1, ["Did you mean the code `mx-without-spf`?"]);
    expectPlain(await explain("\u001b[31m"), 1, ["a manifest has no field \\u{1b}[31m"]);
    const { code, stdout } = await explain("nothing", "--format", "json");
    expect([code, JSON.parse(stdout).diagnostics[0].code]).toEqual([1, "unknown-field"]);
  });
});
