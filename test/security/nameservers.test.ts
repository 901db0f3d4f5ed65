import { createSocket } from "node:dgram";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { here as run } from "../cli/here.ts";
import { oddService } from "../cli/odd-service.ts";
import { emulator, envOf, folder } from "../cli/run.ts";

const ZONE = (server: string): string => `tenon: 1
domains:
  - domain: example.com
    type: master
    soa_email: hostmaster@example.com
    records:
      - { type: NS, target: ${server} }
      - { type: A, name: www, target: 192.0.2.1 }
`;

/** A socket that counts what it gets, and answers nothing. */
async function silentServer(): Promise<{ readonly port: number; readonly seen: Buffer[] }> {
  const seen: Buffer[] = [];
  const socket = createSocket("udp4", (message) => void seen.push(message));
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  onTestFinished(() => void socket.close());
  return { port: socket.address().port, seen };
}

test("no nameserver is asked without --verify, --live or --nameserver, and those given are the only ones asked", async () => {
  const { port, seen } = await silentServer();
  const cwd = await folder({ "tenon.yaml": ZONE("127.0.0.1.nip.example.") });
  expect((await run(["validate"], { cwd })).code).toBe(0);
  expect((await run(["plan"], { cwd, env: envOf(await emulator()) })).code).toBe(0);
  expect(seen).toEqual([]);
  const args = ["zone", "check", "--live", "--nameserver", `127.0.0.1:${port}`, "--verify-timeout", "0s"];
  expect((await run(args, { cwd, env: { TENON_TOKEN: "emulator-token" } })).code).toBe(1);
  expect(seen.length).toBeGreaterThan(0);
  // A question holds the names of the zone, and nothing else of ours.
  for (const message of seen) expect(message.toString("latin1")).not.toContain("emulator-token");
  for (const message of seen) expect(message.length).toBeLessThan(512);
});

test("a name in a zone makes no web request: a nameserver is asked over DNS alone", async () => {
  const service = await oddService((_, response) => response.end("{}"));
  const { port } = new URL(service.baseUrl);
  const cwd = await folder({ "tenon.yaml": ZONE("ns1.example.com.") });
  const args = ["zone", "check", "--live", "--nameserver", `127.0.0.1:${port}`, "--verify-timeout", "0s"];
  expect((await run(args, { cwd })).code).not.toBe(0);
  expect(service.requests).toEqual([]);
});

/** Answers over UDP and TCP, on one port, with what `answer` makes of a question. */
async function answeringServer(answer: (question: Buffer) => Buffer): Promise<number> {
  const tcp = createServer((connection) => {
    connection.on("error", () => {});
    connection.on("data", (data) => {
      const octets = answer(data.subarray(2));
      connection.write(Buffer.concat([Buffer.from([octets.length >> 8, octets.length & 0xff]), octets]));
    });
  });
  await new Promise<void>((resolve) => tcp.listen(0, "127.0.0.1", resolve));
  const { port } = tcp.address() as { port: number };
  const udp = createSocket("udp4", (question, { port: from }) => udp.send(answer(question), from, "127.0.0.1"));
  await new Promise<void>((resolve) => udp.bind(port, "127.0.0.1", resolve));
  onTestFinished(() => {
    udp.close();
    tcp.close();
  });
  return port;
}

function uint16(number: number): Buffer {
  return Buffer.from([number >> 8, number & 0xff]);
}

/** An authoritative answer of so many records of one type, whose owner is the name that was asked. */
function floodOf(count: number, data: (index: number, place: number) => Buffer): (question: Buffer) => Buffer {
  return (question) => {
    const end = question.indexOf(0, 12) + 5;
    const [name, type] = [question.subarray(12, end), question.subarray(end - 4, end - 2)];
    const head = Buffer.concat([
      question.subarray(0, 2),
      uint16(0x8400),
      uint16(1),
      uint16(count),
      uint16(0),
      uint16(0),
      name,
    ]);
    const records = Array.from({ length: count }, (_, index) => {
      // The data of the first record begins behind its own head.
      const rdata = data(index, head.length + 12);
      return Buffer.concat([uint16(0xc00c), type, uint16(1), Buffer.from([0, 0, 1, 44]), uint16(rdata.length), rdata]);
    });
    return Buffer.concat([head, ...records]);
  };
}

test("an answer that unpacks to megabytes of names, or holds thousands of records, is not kept as a whole", async () => {
  const label = Buffer.concat([Buffer.from([62]), Buffer.alloc(62, 0x80)]);
  const name = Buffer.concat([label, label, label, label.subarray(0, 1), label.subarray(1), Buffer.from([0])]);
  const long = floodOf(4_000, (index, place) =>
    Buffer.concat([uint16(index), index === 0 ? name : uint16(0xc000 | (place + 2))]),
  );
  const many = floodOf(3_000, (index) =>
    Buffer.concat([uint16(1), Buffer.from([3]), Buffer.from(String(index + 100).slice(-3)), Buffer.from([0])]),
  );
  const mx = "{ type: MX, name: m, target: x.example.net., priority: 1 }";
  const cwd = await folder({
    "tenon.yaml": `tenon: 1\ndomains:\n  - { domain: example.com, type: master, soa_email: a@example.com, records: [${mx}] }\n`,
  });
  for (const [answer, word] of [
    [long, "the server answered 3998 more values, which are not shown"],
    [many, "the server answered 980 more values, which are not shown"],
  ] as const) {
    const port = await answeringServer(answer);
    const args = ["zone", "check", "--live", "--nameserver", `127.0.0.1:${port}`, "--verify-timeout", "0s"];
    const { code, stdout } = await run([...args, "--format", "json"], { cwd });
    expect(code).not.toBe(0);
    expect(stdout).toContain(word);
    expect(stdout.length).toBeLessThan(10_000);
  }
});
