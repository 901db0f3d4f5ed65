import { expect, test } from "vitest";
import { here as run } from "../cli/here.ts";
import { folder } from "../cli/run.ts";

function zone(records: string): Promise<string> {
  const head = "tenon: 1\ndomains:\n  - domain: example.com\n    type: master\n    soa_email: a@example.com\n";
  return folder({ "tenon.yaml": `${head}    records:\n${records}` });
}

test("a name that looks like another one is reported, whether it is written in letters or in punycode", async () => {
  const records = ["pаypal", "xn--80ak6aa92e", "1ogin", "login"].map(
    (name) => `      - { type: A, name: "${name}", target: 198.51.100.1, lint: { off: [documentation-address] } }\n`,
  );
  const { code, stderr } = await run(["validate", "--strict"], { cwd: await zone(records.join("")) });
  expect([code, stderr.match(/warning\[lookalike-name\]/g)?.length]).toEqual([3, 3]);
  for (const words of ["looks like `paypal`", "looks like `apple`", "`1ogin` looks like `login`"]) {
    expect(stderr.replace(/\n +/g, " ")).toContain(words);
  }
});

test("an alias of a name that anybody can claim is reported, until the record says that the name is ours", async () => {
  const record = (off: string) => `      - { type: CNAME, name: shop, target: gone.herokuapp.com.${off} }\n`;
  const told = await run(["validate", "--strict"], { cwd: await zone(record("")) });
  expect(told.code).toBe(3);
  expect(told.stderr.replace(/\n +/g, " ")).toMatch(/warning\[claimable-target\].*a name of Heroku.*https:\/\//s);
  const ours = await run(["validate", "--strict"], { cwd: await zone(record(", lint: { off: [claimable-target] }")) });
  expect([ours.code, ours.stderr]).toEqual([0, ""]);
});
