/** `--changed-since` as a user meets it: with a folder as the base. With git: test/system/base.test.ts. */

import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { here } from "./here.ts";
import { emulator, envOf, expectPlain, folder, run } from "./run.ts";

const zone = (name: string, ...targets: readonly string[]) => `tenon: 1
domains:
  - domain: ${name}
    type: master
    soa_email: a@example.com
    records:
${targets.map((target, index) => `      - { type: A, name: host${index}, target: ${target} }`).join("\n")}
`;

const ROOT = "tenon: 1\nowner: edge\nfiles: [zones/*.yaml]\n";

/** Two folders beside each other, `main` as it is applied and `head` with changes of it, and the account. */
async function proposal(changes: Readonly<Record<string, string>>) {
  const files = {
    "tenon.yaml": ROOT,
    "zones/a.yaml": zone("a.example", "192.0.2.1", "192.0.2.2"),
    "zones/b.yaml": zone("b.example", "192.0.2.1"),
  };
  const entries = [
    ...Object.entries(files).map(([name, text]) => [`main/${name}`, text] as const),
    ...Object.entries({ ...files, ...changes }).map(([name, text]) => [`head/${name}`, text] as const),
  ];
  const place = await folder(Object.fromEntries(entries));
  const service = await emulator();
  const env = envOf(service);
  const applied = await here(["apply", "--yes"], { cwd: join(place, "main"), env });
  expect(applied.code).toBe(0);
  service.clearRequests();
  return { service, place, options: { cwd: join(place, "head"), env } };
}

test("a plan reads what has changed, says so, and is carried out within that", async () => {
  const { service, options } = await proposal({ "zones/a.yaml": zone("a.example", "192.0.2.9", "192.0.2.2") });
  const planned = await run(["plan", "--changed-since", "../main", "--out", "a.plan"], options);
  expect(planned.stderr).toBe("");
  expect(planned.stdout).toContain(`This change, compared with ../main:

  domain a.example
  ~ host0 A 192.0.2.1 → 192.0.2.9
`);
  expect(planned.stdout).toContain("\nOnly what is declared otherwise than at ../main was read: 1 domain.\n");
  expect(service.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "GET /v4/domains",
    "GET /v4/domains/30001/records",
  ]);
  service.clearRequests();
  const applied = await run(["apply", "--yes", "--plan", "a.plan"], options);
  expect({ code: applied.code, stderr: applied.stderr.split("\n")[0] }).toMatchObject({ code: 0 });
  expect(applied.stdout).toContain("0 added, 1 changed, 0 destroyed.");
  expect(service.requests.filter(({ path }) => path.startsWith("/v4/domains/30002"))).toEqual([]);
});

test("an apply is narrowed likewise, and leaves drift elsewhere to a whole run", async () => {
  const { service, options } = await proposal({ "zones/a.yaml": zone("a.example", "192.0.2.9", "192.0.2.2") });
  const token = { authorization: "Bearer emulator-token", "content-type": "application/json" };
  const records = new URL(`${service.baseUrl}/domains/30002/records`);
  const list = (await (await fetch(records, { headers: token })).json()) as { data: { id: number }[] };
  await fetch(`${records}/${list.data[0]?.id}`, { method: "DELETE", headers: token });
  const json = await run(["apply", "--yes", "--changed-since", "../main", "--format", "json"], options);
  expect(json.code).toBe(0);
  const [first, ...rest] = json.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(first).toMatchObject({ type: "plan", changed_since: { name: "../main", addresses: ["domain/a.example"] } });
  expect(rest.at(-1)).toMatchObject({ type: "report", resources: { added: 0, changed: 1, destroyed: 0 } });
  const drift = await run(["drift", "--changed-since", "../main"], options);
  expect(drift).toEqual({
    code: 0,
    stdout: "Only what is declared otherwise than at ../main was read: 1 domain.\nNo drift within the targets.\n",
    stderr: "",
  });
  const whole = await run(["drift"], options);
  expect({ code: whole.code, found: whole.stdout.includes("domain/b.example/host0/A") }).toEqual({
    code: 2,
    found: true,
  });
});

test("a proposal that removes a zone's file shows the prune, which needs consent", async () => {
  const { service, place, options } = await proposal({});
  await writeFile(join(place, "head/tenon.yaml"), ROOT.replace("zones/*.yaml", "zones/a.yaml"));
  const refused = await run(["apply", "--yes", "--changed-since", "../main"], options);
  expect(refused.code).toBe(4);
  expect(refused.stdout).toContain("domain b.example");
  expect(service.requests.every(({ method }) => method === "GET")).toBe(true);
  const agreed = await run(
    ["apply", "--yes", "--changed-since", "../main", "--allow", "delete=domain/b.example"],
    options,
  );
  expect(agreed.stdout).toContain("destroyed.");
  expect(agreed.code).toBe(0);
  const left = await run(["plan", "--detailed-exitcode"], options);
  expect(left.code).toBe(0);
});

test("a proposal that changes no declaration asks the service for nothing", async () => {
  const { service, options } = await proposal({
    "zones/a.yaml": `# a comment\n${zone("a.example", "192.0.2.1", "192.0.2.2")}`,
  });
  const { code, stdout } = await run(["plan", "--changed-since", "../main", "--detailed-exitcode"], options);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout:
      "This change, compared with ../main: nothing.\n\nOnly what is declared otherwise than at ../main was read: nothing.\n\nNo changes within the targets.\n",
  });
  expect(service.requests).toEqual([]);
});

test("an invalid base widens a plan, with a warning, and stops an apply", async () => {
  const { service, place, options } = await proposal({ "zones/a.yaml": zone("a.example", "192.0.2.9", "192.0.2.2") });
  await writeFile(join(place, "main/zones/b.yaml"), "tenon: 1\ndomains: {}\n");
  const planned = await run(["plan", "--changed-since", "../main"], options);
  expect(planned.code).toBe(0);
  expect(planned.stdout).toContain("the base ../main is invalid; the whole project is planned");
  expect(planned.stdout).not.toContain("Only what is declared");
  service.clearRequests();
  const applied = await run(["apply", "--yes", "--changed-since", "../main"], options);
  expectPlain(applied, 1, ["the base ../main is invalid", "zones/b.yaml:2:10", "run without --changed-since"]);
  expect(service.requests).toEqual([]);
});

test("a plan file and a flag that differ are an error, as are --base and --destroy beside the flag", async () => {
  const { place, options } = await proposal({ "zones/a.yaml": zone("a.example", "192.0.2.9", "192.0.2.2") });
  await run(["plan", "--changed-since", "../main", "--out", "a.plan"], options);
  const other = await run(["apply", "--yes", "--plan", "a.plan", "--changed-since", "../other"], options);
  expectPlain(other, 1, ["made with other options", "--changed-since ../other", "--changed-since ../main"]);
  const pinned = await run(["apply", "--yes", "--plan", "a.plan", "--pin"], options);
  expectPlain(pinned, 1, ["made with other options", "no --changed-since"]);
  // A pinned apply finds out by itself what has changed, by whatever name of the base: here the base declares b.example otherwise by now.
  await cp(join(place, "main"), join(place, "later"), { recursive: true });
  await writeFile(join(place, "later/zones/b.yaml"), zone("b.example", "192.0.2.8"));
  const pin = ["apply", "--yes", "--plan", "a.plan", "--pin", "--changed-since"];
  expectPlain(await run([...pin, "../later"], options), 5, ["Changed since ../later: now also `domain/b.example`"]);
  await cp(join(place, "head/zones/a.yaml"), join(place, "later/zones/a.yaml"));
  expectPlain(await run([...pin, "../later"], options), 5, ["and no longer `domain/a.example`"]);
  await cp(join(place, "main"), join(place, "later"), { recursive: true });
  const same = await run([...pin, "../later"], options);
  expect(same.code).toBe(0);
  for (const flag of [["--base", "../main"], ["--destroy"]])
    expectPlain(await run(["plan", "--changed-since", "../main", ...flag], options), 1, [/cannot be used with/]);
  expectPlain(await run(["plan", "--changed-since", "../nowhere"], options), 1, [
    "--changed-since ../nowhere is no folder",
  ]);
});
