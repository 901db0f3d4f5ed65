/** What goes as a whole, as `plan` tells it: how much goes with it, and whether another environment declares it. */

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
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
