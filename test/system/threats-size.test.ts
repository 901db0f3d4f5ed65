import { createSocket } from "node:dgram";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { oddService } from "../cli/odd-service.ts";
import { emulator, ended, envOf, folder, run, start } from "../cli/run.ts";
import { startAsked } from "../support/scripted-asked.ts";
import { framed, rawRecord, soa } from "../support/scripted-nameserver.ts";

// A megabyte each, or little more. Where a limit is missing, the process dies of a heap of a gigabyte, or the test's time is over.

const HEAP = { NODE_OPTIONS: "--max-old-space-size=1024" };
const MASTER = "type: master\n    soa_email: a@a.example";

function list(count: number, item: (index: number) => string, separator = ", "): string {
  return Array.from({ length: count }, (_, index) => item(index)).join(separator);
}

function domains(count: number, rest: string): string {
  return `domains:\n  - domain: [${list(count, (index) => `d${index}.example`)}]\n    ${MASTER}\n    ${rest}\n`;
}

async function validate(manifest: string, files: Readonly<Record<string, string>> = {}): Promise<string> {
  const cwd = await folder({ "tenon.yaml": `tenon: 1\n${manifest}`, ...files });
  const { code, stderr } = await run(["validate"], { cwd, env: HEAP });
  expect(stderr).not.toMatch(/unexpected: |heap/);
  expect(code).toBe(3);
  return stderr;
}

/** A project may have one record for each eight characters of its files: with these it may have 300,000. */
const PADDING = `# ${"x".repeat(97)}\n`.repeat(24_000);

test("a zone file of seven megabytes for twenty thousand domains is refused", async () => {
  const zone = `$TTL 300\n@ A 192.0.2.1\n${`; ${"x".repeat(97)}\n`.repeat(73_000)}`;
  expect(await validate(domains(20_000, "zone_file: z.zone"), { "z.zone": zone })).toContain("[project-too-large]");
});

test("a variable of three megabytes in twenty thousand values is refused", async () => {
  const values = list(20_000, (index) => `  - { label: n${index}, region: "a\${var.x}" }\n`, "");
  const manifest = `variables: { x: { default: "${"v".repeat(3 * 1024 * 1024)}" } }\nvpcs:\n${values}`;
  expect(await validate(manifest)).toContain("[expands-too-far]");
});

test("a list of ten thousand values in five thousand places is refused", async () => {
  const values = list(5_000, (index) => `  - { domain: d${index}.example, type: master, tags: "\${var.x}" }\n`, "");
  const manifest = `variables: { x: { default: [${list(10_000, () => "a")}] } }\ndomains:\n${values}`;
  expect(await validate(manifest)).toContain("[expands-too-far]");
});

test("two hundred files whose aliases unfold to a hundred thousand values each are refused", async () => {
  const step = (name: string, of: string): string => `  ${name}: &${name} [${list(10, () => of)}]\n`;
  const bomb = `tenon: 1\nx-a:\n${step("a", "v")}${step("b", "*a")}${step("c", "*b")}${step("d", "*c")}  e: [${list(8, () => "*d")}]\n`;
  const files = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`f${index}.yaml`, bomb]));
  expect(await validate('files: ["f*.yaml"]\n', files)).toContain("[expands-too-far]");
});

test("four thousand patterns for a million records are refused", async () => {
  const patterns = list(4_000, (index) => `{ name: "a*b*c*d${index}" }`);
  const records = list(14, (index) => `{ type: A, name: aaaabbbbcccc${index}, target: 192.0.2.1 }`);
  const manifest = `${PADDING}defaults: { domain: { ignore: [${patterns}] } }\nrecord_sets: { s: [${records}] }\n`;
  expect(await validate(manifest + domains(18_000, "use: [s]"))).toContain("[expands-too-far]");
});

test("sixty thousand records with several mistakes each are all checked", async () => {
  const records = list(60_000, (index) => `      - { tipe: A, b${index}: 1 }\n`, "");
  const stderr = await validate(`domains:\n  - domain: a.example\n    ${MASTER}\n    records:\n${records}`);
  expect(stderr).toContain("[unknown-key]");
});

test("four hundred thousand mismatched brackets are refused", async () => {
  expect(await validate(`x-a: ${"[}".repeat(400_000)}\n`)).toContain("[yaml-syntax]");
});

test("two hundred thousand records, written one by one, load", async () => {
  const record = (index: number): string =>
    `      - { type: A, name: h${index}, target: 10.0.${index >> 8}.${index & 255}, ttl_sec: 300 }\n`;
  const files = Array.from({ length: 20 }, (_, file) => {
    const head = `domains:\n  - domain: z${file}.example\n    ${MASTER}\n    lint: { off: [private-address] }\n`;
    return [`zones/${file}.yaml`, `tenon: 1\n${head}    records:\n${list(10_000, record, "")}`];
  });
  const cwd = await folder({ "tenon.yaml": 'tenon: 1\nfiles: ["zones/*.yaml"]\n', ...Object.fromEntries(files) });
  expect(await run(["validate"], { cwd })).toMatchObject({ code: 0, stderr: "" });
}, 600_000);

test("a hundred environments of a hundred thousand records with findings each are checked up to a limit, and refused", async () => {
  const environments = list(100, (index) => `e${index}: {}`);
  const records = list(300, (index) => `{ type: MX, name: h${index}, target: q${index}, priority: 1 }`);
  const sets = `environments: { ${environments} }\nrecord_sets: { s: [${records}] }\n`;
  const cwd = await folder({ "tenon.yaml": `tenon: 1\n${sets}${domains(390, "use: [s]")}` });
  const { code, stderr } = await run(["validate"], { cwd, env: HEAP });
  expect(stderr).not.toMatch(/unexpected: |heap/);
  expect(code).toBe(1);
  const left = /error\[too-many-environments\]: (\d+) environments were not checked/.exec(stderr)?.[1];
  expect(Number(left)).toBeGreaterThan(90);
});

test("a signal ends every computation at once: loading, linting, planning, showing", async () => {
  const records = list(29, (index) => `{ type: A, name: n${index}, target: 192.0.2.1 }`);
  const cwd = await folder({
    "tenon.yaml": `tenon: 1\n${PADDING}record_sets: { s: [${records}] }\n${domains(9_600, "use: [s]")}`,
  });
  // Each of them takes seconds in one go, and a handler would not be run before its end.
  for (const [args, shares] of [
    [["validate"], [0.2, 0.7]],
    [["show", "--expanded"], [0.2]],
    [["fmt", "--check"], [0.3]],
    // It has no token, which it says once the project is loaded.
    [["drift", "--watch"], [0.3]],
  ] as const) {
    const begin = performance.now();
    await run(args, { cwd });
    let wholeMilliseconds = performance.now() - begin;
    for (const share of shares)
      for (;;) {
        const started = performance.now();
        const child = start(args, { cwd });
        const end = new Promise((resolve) => child.on("close", (code, signal) => resolve({ code, signal })));
        child.stdout.resume();
        child.stderr.resume();
        await Promise.race([setTimeout(share * wholeMilliseconds), end]);
        const ended = child.exitCode !== null;
        child.kill("SIGTERM");
        const how = await end;
        // A run that was done before its signal says nothing, but that the machine is faster by now.
        if (ended) wholeMilliseconds = Math.min(wholeMilliseconds * 0.8, performance.now() - started);
        else {
          expect(how).toEqual({ code: null, signal: "SIGTERM" });
          break;
        }
      }
  }
}, 240_000);

test("plan files and snapshots of a hundred million values, without an end to their nesting, or of millions of characters to escape, are damaged", async () => {
  const cwd = await folder({ "tenon.yaml": "tenon: 1\nvpcs: [{ label: a, region: us-east }]\n" });
  const env = { ...HEAP, TENON_BASE_URL: "http://127.0.0.1:9/v4", TENON_TOKEN: "not-used" };
  const endless = (piece: string): string => `[${piece.repeat(200_000_000 / piece.length)}`;
  const full = (character: string): string => `["${character.repeat(5_000_000)}"]`;
  for (const [text, words] of [
    [() => endless("1,"), "it has more than 16,000,000 values"],
    [() => endless("{},"), "it has more than 16,000,000 values"],
    [() => endless("["), "it is nested more than 64 deep"],
    [() => endless('{"__proto__":'), "it is nested more than 64 deep"],
    [() => full("\u00ad"), "it has more than 4,194,304 characters that must be escaped"],
    [() => full("\\u00ad"), "it has more than 4,194,304 characters that must be escaped"],
  ] as const) {
    await writeFile(join(cwd, "hostile.json"), text());
    for (const args of [
      ["apply", "--yes", "--plan", "hostile.json"],
      ["plan", "--live", "hostile.json"],
    ]) {
      const { code, stderr } = await run(args, { cwd, env });
      expect(stderr.replace(/\n +/g, " ")).toContain(words);
      expect(code).toBe(1);
    }
  }
}, 300_000);

/** V8 hashes a longer text by its length alone. */
const MAX_HASHED_CHARACTERS = 16_383;

/** Texts of one length that differ at their end, about as many characters together whatever the length. */
function textsOf(characters: number, count: number): string[] {
  const least = Math.round((count * MAX_HASHED_CHARACTERS) / characters);
  return Array.from({ length: least }, (_, index) => `${"x".repeat(characters - 5)}${10_000 + index}`);
}

/** How many times longer `work` takes with texts that V8 hashes by their length than with texts that are a little shorter: the least of three. */
async function slowdown(work: (characters: number) => Promise<() => Promise<void>>): Promise<number> {
  const [short, long] = [await work(MAX_HASHED_CHARACTERS - 50), await work(MAX_HASHED_CHARACTERS + 50)];
  const ratios: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const times: number[] = [];
    for (const each of [short, long]) {
      const begin = performance.now();
      await each();
      times.push(performance.now() - begin);
    }
    ratios.push((times[1] ?? 0) / (times[0] ?? 0));
  }
  return Math.min(...ratios);
}

test("thousands of texts of one length, which V8 would hash by the length, take as long as shorter ones", async () => {
  const empty = await folder({
    "tenon.yaml": `tenon: 1\ndomains: [{ domain: a.example, ${MASTER.replace("\n    ", ", ")}, records: [] }]\n`,
  });
  const drift = await slowdown(async (characters) => {
    const records = textsOf(characters, 2_000).map((target, id) => ({
      id: id + 1,
      type: "TXT" as const,
      name: "a",
      target,
    }));
    const service = await emulator({ seed: { domains: [{ id: 1, domain: "a.example", type: "master", records }] } });
    return async () => {
      const { code, stderr } = await run(["drift"], { cwd: empty, env: envOf(service) });
      expect([code, stderr]).toEqual([2, ""]);
    };
  });
  const validation = await slowdown(async (characters) => {
    const texts = textsOf(characters, 1_000);
    const values = texts.map((text) => `{ type: TXT, name: a, target: "\${var.x}${text.slice(-5)}" }`);
    const variables = `variables: { x: { default: "${"x".repeat(characters - 5)}" } }`;
    const manifest = `tenon: 1\n${variables}\nrecord_sets: { s: [${values.join(", ")}] }\n${domains(1, "use: [s]")}`;
    const cwd = await folder({ "tenon.yaml": manifest });
    return async () => {
      expect(await run(["validate"], { cwd })).toMatchObject({ code: 0, stderr: "" });
    };
  });
  expect(Math.max(drift, validation)).toBeLessThan(3);
}, 600_000);

async function importFiles(source: string, files: Readonly<Record<string, string>>, paths: readonly string[]) {
  const cwd = await folder(files);
  const { code, stderr } = await run(["import", "--from", source, ...paths, "--out", "out"], { cwd, env: HEAP });
  expect(stderr).not.toMatch(/unexpected: |heap|error of Tenon/);
  expect(code).toBe(3);
  return stderr;
}

test("hundreds of zone files of three lines, each of which generates ten thousand records, are read no further than a project may have", async () => {
  const zone = (index: number): string =>
    `$ORIGIN z${index}.example.\n@ 300 SOA ns.example. a.b.example. 1 1 1 1 1\n$GENERATE 1-10000 a$ 300 A 192.0.2.1\n`;
  const files = Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`z${index}.zone`, zone(index)]));
  expect(await importFiles("zone", files, Object.keys(files))).toContain("[too-many-records]");
});

test("sixty-four megabytes of parentheses that nothing closes are refused", async () => {
  const zone = "(".repeat(64 * 1024 * 1024);
  expect(await importFiles("zone", { "a.test.zone": zone }, ["a.test.zone"])).toContain("[unclosed-parenthesis]");
});

test("half a million records in one file of octoDNS are refused before they are held as values", async () => {
  const records = list(500_000, (index) => `a${index}: { type: A, ttl: 300, value: 192.0.2.1 }\n`, "");
  expect(await importFiles("octodns", { "a.example.yaml": records }, ["a.example.yaml"])).toContain("too many values");
});

test("a hundred thousand patterns of records that DNSControl leaves alone are refused before a record is compared with them", async () => {
  const unmanaged = Array.from({ length: 100_000 }, (_, index) => ({ label_pattern: `a*b*c*${index}` }));
  const records = Array.from({ length: 12_000 }, (_, index) => ({
    type: "A",
    name: `aabbcc${index}`,
    target: "192.0.2.1",
  }));
  const domain = { name: "a.example", dnsProviders: { a: -1 }, unmanaged, records };
  const ir = JSON.stringify({ registrars: [], dns_providers: [], domains: [domain] });
  expect(await importFiles("dnscontrol", { "ir.json": ir }, ["ir.json"])).toContain("[too-many-patterns]");
});

test("of texts of 64 KiB that a hostile name server answers with, thousands are not kept", async () => {
  const text = Buffer.concat(
    Array.from({ length: 250 }, () => Buffer.concat([Buffer.from([255]), Buffer.alloc(255, 0xd0)])),
  );
  const server = await startAsked(({ text: asked, transport, send, reply }) => {
    const [name = "", type] = asked.split(" ");
    if (type !== "TXT") send(reply({ answers: [soa(name)] }));
    else if (transport === "udp") send(reply({ isTruncated: true }));
    else {
      const record = rawRecord(name.split("."), 16, text);
      const head = reply({}).subarray(2);
      head.writeUInt16BE(1, 6);
      send(framed(Buffer.concat([head, record])));
    }
  });
  const records = list(4_000, (index) => `      - { type: TXT, name: n${index}, target: x }\n`, "");
  const cwd = await folder({
    "tenon.yaml": `tenon: 1\ndomains:\n  - domain: a.example\n    ${MASTER}\n    records:\n${records}`,
  });
  const args = ["zone", "check", "--live", "--nameserver", `127.0.0.1:${server.port}`, "--verify-timeout", "0s"];
  const { code, stdout, stderr } = await run(args, { cwd, env: { NODE_OPTIONS: "--max-old-space-size=350" } });
  expect(stderr).not.toMatch(/unexpected: |heap/);
  expect([code, stdout.replaceAll("\n", " ")]).toEqual([2, expect.stringContaining("4000 of 8002 answers")]);
});

/** Over UDP and TCP, at so many addresses of the machine itself on one port: it takes every question, and answers none. */
async function silentServers(
  count: number,
): Promise<{ readonly names: readonly string[]; readonly isAsked: () => boolean }> {
  let isAsked = false;
  const names: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const host = `127.0.9.${index + 1}`;
    const tcp = createServer((connection) => {
      connection.on("error", () => {});
      connection.on("data", () => {
        isAsked = true;
      });
      onTestFinished(() => void connection.destroy());
    }).listen(0, host);
    await once(tcp, "listening");
    const { port } = tcp.address() as AddressInfo;
    const udp = createSocket("udp4").bind(port, host);
    await once(udp, "listening");
    onTestFinished(() => {
      tcp.close();
      udp.close();
    });
    names.push(`${host}:${port}`);
  }
  return { names, isAsked: () => isAsked };
}

test("three million questions of 0.6 MB of manifest to sixteen silent name servers fit into half a gigabyte, also after a signal, and their problems are counted", async () => {
  const records = list(11_990, (index) => `{ type: A, name: n${index}, target: 192.0.2.1 }`);
  const manifest = `tenon: 1\nrecord_sets: { s: [${records}] }\n${domains(9, "use: [s]")}`;
  expect(manifest.length).toBeLessThan(600 * 1024);
  const cwd = await folder({ "tenon.yaml": manifest });
  const { names, isAsked } = await silentServers(16);
  const args = ["zone", "check", "--live", ...names.flatMap((name) => ["--nameserver", name])];
  const env = { NODE_OPTIONS: "--max-old-space-size=512" };
  const asked = 9 * 11_991 * 16 * 2;
  const counted = new RegExp(
    `${asked - 100_000} more answers that are not there are not listed.*${asked} of ${asked} answers at 16 name servers`,
  );
  const child = start([...args, "--format", "json"], { cwd, env });
  const end = ended(child);
  await expect.poll(isAsked, { timeout: 60_000 }).toBe(true);
  child.kill("SIGTERM");
  const { code, stdout } = await end;
  expect(code).toBe(143);
  expect(JSON.parse(stdout)).toMatchObject({ verified: false, interrupted: true, asked, there: 0 });
  const whole = await run(args, { cwd, env });
  expect([whole.code, whole.stderr.match(/unexpected: |heap/)]).toEqual([1, null]);
  expect(whole.stdout.replace(/\s+/g, " ")).toMatch(counted);
}, 240_000);

test("a ticket with two answers of sixty megabytes of line breaks is shown in full, a reply at a time", async () => {
  const REPLIES = 1_000;
  const BREAKS = 60_000;
  const about = { created: "2026-01-01T00:00:00", created_by: "x", from_linode: false };
  const description = `a${"\n".repeat(BREAKS)}b`;
  const service = await oddService(({ url = "" }, response) => {
    const { pathname, searchParams } = new URL(url, "http://localhost");
    response.setHeader("content-type", "application/json");
    if (!pathname.endsWith("/replies"))
      return void response.end('{"id":5,"summary":"s","description":"d","status":"open"}');
    const [page, size] = [Number(searchParams.get("page") ?? 1), Number(searchParams.get("page_size") ?? 100)];
    const data = Array.from({ length: size }, (_, index) => ({
      id: (page - 1) * size + index + 1,
      ...about,
      description,
    }));
    response.end(JSON.stringify({ data, page, pages: REPLIES / size, results: REPLIES }));
  });
  const env = { ...envOf(service), NODE_OPTIONS: "--max-old-space-size=512" };
  const child = start(["ticket", "show", "5", "--all"], { cwd: await folder({}), env });
  let breaks = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    for (const byte of chunk) if (byte === 0x0a) breaks += 1;
  });
  const [code] = await once(child, "close");
  expect(code).toBe(0);
  expect(breaks).toBeGreaterThan(REPLIES * BREAKS);
});

test("names of thirty thousand characters, which a thousand places repeat, are shown in part, whatever shows the errors", async () => {
  const name = "\u00ad".repeat(30_000);
  const places = list(1_150, (index) => `  - { label: v${index}, region: us, description: *a }\n`, "");
  const manifest = (reference: string) => `tenon: 1\nx-a: &a "${reference}"\nvpcs:\n${places}`;
  const env = {
    NODE_OPTIONS: "--max-old-space-size=512",
    TENON_BASE_URL: "http://127.0.0.1:9/v4",
    TENON_TOKEN: "none",
  };
  for (const reference of [`\${var.${name}}`, `\${${name}}`, `a \${cidrsubnet(${name})}`]) {
    const cwd = await folder({ "tenon.yaml": manifest(reference) });
    for (const args of [
      ["validate", "--format", "json"],
      ["plan", "--format", "json"],
      ["export", "--to", "octodns", "--out", "exported"],
    ]) {
      const { code, stdout, stderr } = await run(args, { cwd, env });
      expect([args, code, stderr.includes("unexpected")]).toEqual([args, 3, false]);
      expect(stdout.length + stderr.length).toBeLessThan(8_000_000);
    }
  }
});
