import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { transferZone } from "../../src/dns/transfer.ts";
import { here as run } from "../cli/here.ts";
import { emulator, envOf, folder } from "../cli/run.ts";
import { framed, message, rawName, rawRecord, soa, startScripted } from "../support/scripted-nameserver.ts";
import { expectPlainText, STEERING } from "./hostile.ts";

const [A, CNAME, MX, TXT, CAA] = [1, 5, 15, 16, 257];
const INCLUDE = "x\n$INCLUDE /etc/passwd\n";

function text(value: string): Buffer {
  const octets = Buffer.from(value);
  return Buffer.concat([Buffer.from([octets.length]), octets]);
}

function record(name: string, type: number, data: Buffer): Buffer {
  return rawRecord([...(name === "" ? [] : [name]), "example", "com"], type, data);
}

/** Whatever a nameserver may put into a zone that is transferred from it. */
const HOSTILE = [
  record("kept", A, Buffer.from([192, 0, 2, 1])),
  record("steering", TXT, text(STEERING)),
  record("include", TXT, text(INCLUDE)),
  record("quoted", TXT, text('" ) \\" ; $ORIGIN evil.example. `code` ${var.x} |')),
  record("octets", TXT, Buffer.from([3, 0xff, 0xfe, 0x80])),
  record(INCLUDE, A, Buffer.from([192, 0, 2, 2])),
  record("\u001b[2J", A, Buffer.from([192, 0, 2, 3])),
  record("..", A, Buffer.from([192, 0, 2, 4])),
  record("__proto__", TXT, text("constructor")),
  record("alias", CNAME, rawName([INCLUDE, "evil", "example"])),
  record("mx", MX, Buffer.concat([Buffer.from([0, 10]), rawName(["\u202e", "\0"])])),
  record("", CAA, Buffer.concat([Buffer.from([0, 5]), Buffer.from(`issue${INCLUDE}"; evil`)])),
];

test("a zone that was transferred from a hostile nameserver steers no terminal and brings no lines: plan, import, export", async () => {
  const nameserver = await startScripted((socket, { id }) => {
    const first = soa(undefined, { mname: `a\u001b[2J.${"example.com"}`, rname: "x\\010$INCLUDE.example.com" });
    socket.write(message({ id, answers: [first], raw: HOSTILE }));
    socket.end(message({ id, answers: [first] }));
  });
  const service = await emulator();
  const body = JSON.stringify({ domain: "example.com", remote_nameserver: `${nameserver.host}:${nameserver.port}` });
  const headers = { authorization: "Bearer emulator-token", "content-type": "application/json" };
  const made = await fetch(`${service.baseUrl}/domains/import`, { method: "POST", headers, body });
  expect([made.status, await made.text()]).toEqual([200, expect.any(String)]);
  const cwd = await folder({});
  const go = (...args: string[]) => run(args, { cwd, env: envOf(service) });
  const imported = await go("import", "--out", "dns");
  expect([imported.code, imported.stderr]).toEqual([0, expect.any(String)]);
  expectPlainText(imported.stdout + imported.stderr);
  for (const file of (await readdir(join(cwd, "dns"), { recursive: true })).filter((name) => name.endsWith(".yaml")))
    expectPlainText(await readFile(join(cwd, "dns", file), "utf8"));
  const planned = await go("plan", "dns");
  expectPlainText(planned.stdout + planned.stderr);
  expect([planned.code, planned.stdout]).toEqual([
    0,
    expect.stringMatching(/^No changes\. Your infrastructure matches/m),
  ]);
  const exported = await go("zone", "export", "example.com", "--nameserver", "ns1.example.net");
  expect(exported.code).toBe(0);
  expectPlainText(exported.stdout + exported.stderr);
  expect(exported.stdout).toMatch(/^kept\b.*\bA\b.*192\.0\.2\.1$/m);
  expect(exported.stdout).not.toMatch(/^\$(INCLUDE|ORIGIN evil)/m);
});

test("a name with a dot within a label lies outside of a zone that it only seems to end in", async () => {
  const outside = rawRecord(["www.example", "com"], A, Buffer.from([192, 0, 2, 1]));
  const within = rawRecord(["back\\", "example", "com"], A, Buffer.from([192, 0, 2, 2]));
  const nameserver = await startScripted((socket, { id }) => {
    socket.write(message({ id, answers: [soa()], raw: [outside, within] }));
    socket.end(message({ id, answers: [soa()] }));
  });
  const result = await transferZone({ zone: "example.com", server: { host: nameserver.host, port: nameserver.port } });
  expect(result.ok && result.records.map(({ name }) => name)).toEqual(["", "back\\\\"]);
});

/** A message of 65,000 octets whose records are pointers to one name of a thousand characters, as it is written. */
function pointers(id: number, filler: number, first: boolean): Buffer {
  const octets = message({ id, answers: first ? [soa()] : [] }).subarray(2);
  const labels = [63, 63, 63, 40].map((length) => Buffer.alloc(length, filler).toString("latin1"));
  const name = Buffer.concat([
    ...labels.map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label, "latin1")])),
    rawName(["example", "com"]),
  ]);
  const pointer = Buffer.from([0xc0 | (octets.length >> 8), octets.length & 0xff]);
  const mx = (owner: Buffer, priority: number) =>
    Buffer.concat([owner, Buffer.from([0, MX, 0, 1, 0, 0, 14, 16, 0, 4, priority >> 8, priority & 0xff]), pointer]);
  const records = Array.from({ length: 4_000 }, (_, index) => mx(index === 0 ? name : pointer, index));
  const whole = Buffer.concat([octets, ...records]);
  whole.writeUInt16BE(records.length + (first ? 1 : 0), 6);
  return framed(whole);
}

test("a transfer whose pointers expand to hundreds of megabytes of names is refused by its expanded size", async () => {
  const nameserver = await startScripted((socket, { id }) => {
    for (let index = 0; index < 49; index += 1) socket.write(pointers(id, 0x80 + index, index === 0));
    socket.end(message({ id, answers: [soa()] }));
  });
  const server = { host: nameserver.host, port: nameserver.port };
  const before = process.memoryUsage().rss;
  const result = await transferZone({ zone: "example.com", server });
  expect(result).toEqual({ ok: false, problem: { code: "too-large", detail: expect.stringContaining("characters") } });
  // Three megabytes arrive; kept whole they were a gigabyte.
  expect(process.memoryUsage().rss - before).toBeLessThan(400 * 1024 ** 2);
});
