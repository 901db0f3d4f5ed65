import { expect, test } from "vitest";
import { here as run } from "../cli/here.ts";
import { failing } from "../cli/odd-service.ts";
import { emulator, envOf, folder, PROJECT } from "../cli/run.ts";
import { codes, loadText, records, zone } from "../manifest/support.ts";

/** Neither a number that a field has room for, nor one that was meant. */
const NO_NUMBERS = [
  "1e999",
  "-1e999",
  ".inf",
  "-.inf",
  ".nan",
  "9007199254740993",
  "1e400",
  "-1",
  "1.5",
  "0x",
  "1_000",
  "''",
  "null",
];

test("a number that is infinite, beyond 2^53, negative, or in an unusual notation is refused where a number belongs", async () => {
  const fields: ((value: string) => string)[] = [
    (value) => zone(`type: A, target: 192.0.2.1, ttl_sec: ${value}`),
    (value) => zone(`type: MX, target: mx.example.net., priority: ${value}`),
    (value) => zone(`type: SRV, service: sip, protocol: tcp, target: sip, port: ${value}, priority: 1, weight: 1`),
    (value) => `vpcs: [{ id: ${value}, label: a, region: us-east }]\n`,
    (value) => `images: [{ label: a, capture: { disk_id: ${value} } }]\n`,
    (value) => `${value === "''" ? "x-tenon: 1\n" : ""}vpcs: []\nremoved: [{ vpc: a, id: ${value} }]\n`,
  ];
  for (const field of fields) {
    for (const value of NO_NUMBERS) {
      const result = await loadText(field(value));
      expect([field(value), codes(result).length > 0]).toEqual([field(value), true]);
      expect([field(value), result.project]).toEqual([field(value), null]);
    }
  }
});

test("a number in hexadecimal, octal or with a sign is what YAML 1.2 says, and a text keeps its digits", async () => {
  const ports = ["0x50", "0o120", "+80", "80.0", "8e1"];
  for (const port of ports) {
    const text = zone(`type: SRV, service: sip, protocol: tcp, target: sip, port: ${port}, priority: 1, weight: 1`);
    const result = await loadText(text);
    if (result.project === null) expect([port, codes(result).length > 0]).toEqual([port, true]);
    else expect([port, records(result)[0]?.port]).toEqual([port, 80]);
  }
  for (const label of ["010", "0x10", "1e3", "0o17"]) {
    const { project } = await loadText(`vpcs: [{ label: ${label}, region: us-east }]\n`);
    expect([label, project?.desired.declared[0]?.key]).toEqual([label, label]);
  }
});

test("an id of the account beyond 2^53, or no number at all, deletes nothing else", async () => {
  const behind = await emulator({
    seed: { vpcs: [{ id: 9_007_199_254_740_992, label: "other", region: "us-east" }] } as never,
  });
  for (const id of ["9007199254740993", "1e999"]) {
    const body = `{"data": [{"id": ${id}, "label": "old", "region": "us-east", "description": "", "subnets": []}], "page": 1, "pages": 1, "results": 1}`;
    const service = await failing(behind, (request) => (request === "GET /v4/vpcs" ? { status: 200, body } : null));
    const cwd = await folder({ "tenon.yaml": "tenon: 1\nremoved: [{ vpc: old }]\n" });
    const { stderr } = await run(["apply", "--yes", "--retry-for", "0s"], { cwd, env: envOf(service) });
    expect(stderr).toContain("`id` is missing or of another type");
    expect(service.requests.filter((request) => request.startsWith("DELETE "))).toEqual([]);
  }
});

test("an id that the service answers to a write is used in no request if it rounds to another one, or is no whole number", async () => {
  const records = "records: [{ type: A, target: 192.0.2.1 }]";
  const text = `tenon: 1\ndomains: [{ domain: a.example, type: master, soa_email: h@a.example, ${records} }]\n`;
  for (const id of ["9007199254740993", "1.5", "1e999", '"127.0.0.1"', "true"]) {
    const behind = await emulator();
    let own = "";
    const service = await failing(
      behind,
      () => null,
      (request, answer) => {
        if (request !== "POST /v4/domains") return answer;
        own = String(JSON.parse(answer).id);
        return answer.replace(/"id":\s*\d+/, `"id": ${id}`);
      },
    );
    const cwd = await folder({ "tenon.yaml": text });
    const { code } = await run(["apply", "--yes"], { cwd, env: envOf(service) });
    // The domain is found by its name.
    expect([id, code]).toEqual([id, 0]);
    expect(service.requests.filter((request) => request.startsWith("POST "))).toEqual([
      "POST /v4/domains",
      `POST /v4/domains/${own}/records`,
    ]);
    const others = service.requests.filter((request) => !/^\S+ \/v4\/domains(\?|$)/.test(request));
    expect(others.filter((request) => !request.includes(`/v4/domains/${own}`))).toEqual([]);
  }
});

test("a number of the command line that is too large is refused", async () => {
  const cwd = await folder({ "tenon.yaml": PROJECT });
  for (const args of [
    ["--concurrency", "1e9"],
    ["--max-changes", "99999999999999999999"],
  ]) {
    expect((await run(["plan", ...args], { cwd })).code).toBe(1);
  }
});
