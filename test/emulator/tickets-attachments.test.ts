/** Files attached to support tickets: forms of every kind, well-formed and not. */

import { Agent, request as httpRequest } from "node:http";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { Emulator } from "../../src/emulator/index.ts";
import { assumption, operation } from "../support/emulated.ts";
import { type PlainAnswer, startTested, type Tested } from "../support/emulator.ts";

const TICKET = { summary: "No route", description: "Since this morning." };
const PATH = "/support/tickets/1";
const FILES = `${PATH}/attachments`;
const BOUNDARY = "----boundary";
const FORM = `multipart/form-data; boundary=${BOUNDARY}`;
const MEGABYTE = 1024 ** 2;

const start = (attachments: string[] = []): Promise<Tested> =>
  startTested({ seed: { tickets: [{ id: 1, ...TICKET, attachments }] } });

interface Part {
  readonly field?: string;
  /** null: none is given, so that it is a text. */
  readonly name?: string | null;
  readonly data?: string | Buffer;
}

function part({ field = "file", name = "a.txt", data = "hello" }: Part): Buffer {
  const file = name === null ? "" : `; filename="${name}"\r\nContent-Type: text/plain`;
  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${field}"${file}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(data as string), Buffer.from("\r\n")]);
}

const END = Buffer.from(`--${BOUNDARY}--\r\n`);
const form = (...parts: Part[]): Buffer => Buffer.concat([...parts.map(part), END]);

interface Sent {
  readonly status: number;
  readonly body: PlainAnswer["body"];
}

/** By hand, because no client sends what is broken. */
function post(emulator: Emulator, body: Buffer | string, type: string | null = FORM, agent?: Agent): Promise<Sent> {
  const headers = { authorization: "Bearer emulator-token", ...(type === null ? {} : { "content-type": type }) };
  return new Promise((resolve, reject) => {
    const request = httpRequest(emulator.baseUrl + FILES, { method: "POST", headers, ...(agent ? { agent } : {}) });
    request.on("error", reject);
    request.on("response", (response) => {
      let text = "";
      response.on("data", (chunk) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }));
    });
    request.end(body);
  });
}

async function attached({ send }: Tested): Promise<string[]> {
  return (await send("GET", PATH)).body.attachments;
}

/** Nothing of the ticket is changed, its update neither. */
async function expectRefused(tested: Tested, body: Buffer | string, status = 400, type?: string | null): Promise<void> {
  const before = (await tested.send("GET", PATH)).body;
  const answer = await post(tested.emulator, body, type);
  expect([answer.status, Object.keys(answer.body)]).toEqual([status, ["errors"]]);
  expect((await tested.send("GET", PATH)).body).toEqual(before);
}

operation("Support Ticket Attachment Create", () => {
  test("a file's name is on the ticket, which is updated", async () => {
    const tested = await start();
    await tested.control("POST", "/clock", { advance_seconds: 60 });
    const before = (await tested.send("GET", PATH)).body;
    expect(await post(tested.emulator, form({ name: "a.txt" }))).toEqual({ status: 200, body: {} });
    const after = (await tested.send("GET", PATH)).body;
    expect(after).toMatchObject({ attachments: ["a.txt"], updated_by: "emulator", status: "new" });
    expect(after.updated > before.updated).toBe(true);
  });

  test("every accepted extension is taken, in any letter case", async () => {
    for (const extension of "gif jpg jpeg pjpg pjpeg tif tiff png pdf txt".split(" ")) {
      const tested = await start();
      const names = [`a.${extension}`, `A.${extension.toUpperCase()}`, `a.exe.${extension}`];
      for (const name of names) expect((await post(tested.emulator, form({ name }))).status).toBe(200);
      expect(await attached(tested)).toEqual(names);
    }
  });

  test("fetch's own form is understood", async () => {
    const tested = await start();
    const body = new FormData();
    body.set("note", "ignored");
    body.set("file", new Blob([Buffer.alloc(3 * MEGABYTE, "\r\n--")]), "größe 漢字 😀.PNG");
    const headers = { authorization: "Bearer emulator-token" };
    const answer = await fetch(tested.emulator.baseUrl + FILES, { method: "POST", body, headers });
    expect([answer.status, await answer.json()]).toEqual([200, {}]);
    expect(await attached(tested)).toEqual(["größe 漢字 😀.PNG"]);
  });

  test.each([
    ["../../x.txt", "x.txt"],
    ["/etc/passwd.txt", "passwd.txt"],
    ["C:\\\\temp\\\\x.pdf", "x.pdf"],
    ["..\\\\..\\\\x.pdf", "x.pdf"],
    ["__proto__.txt", "__proto__.txt"],
    ["constructor.txt", "constructor.txt"],
    ["  .txt", "  .txt"],
    ["...txt", "...txt"],
    ["<script>.txt", "<script>.txt"],
    ["\u202egnp.txt", "\u202egnp.txt"],
    [`${"é".repeat(251)}.txt`, `${"é".repeat(251)}.txt`],
  ])("of the name %j no path is kept", async (name, kept) => {
    const tested = await start();
    expect(await post(tested.emulator, form({ name }))).toEqual({ status: 200, body: {} });
    expect(await attached(tested)).toEqual([kept]);
  });

  test("a ticket that is not there, or another account's, gets no file", async () => {
    const tested = await startTested({
      seed: { other_accounts: { rival: { tokens: [{ token: "rival" }], tickets: [{ id: 1, ...TICKET }] } } },
    });
    expect((await post(tested.emulator, form({}))).status).toBe(404);
    const theirs = await tested.send("GET", PATH, undefined, { authorization: "Bearer rival" });
    expect(theirs.body.attachments).toEqual([]);
  });

  test("of files sent at once, none is lost and five are kept", async () => {
    const tested = await start();
    const names = Array.from({ length: 8 }, (_, index) => `${index}.txt`);
    const answers = await Promise.all(names.map((name) => post(tested.emulator, form({ name }))));
    const taken = names.filter((_, index) => answers[index]?.status === 200);
    expect(taken.length).toBe(5);
    expect((await attached(tested)).sort()).toEqual(taken);
  });
});

test("a file without an accepted extension is refused", async () => {
  const tested = await start();
  for (const name of [
    "a.exe",
    "a",
    "txt",
    ".txt",
    "a.txt.exe",
    "a.txt ",
    "a.txt.",
    "a.tx",
    "a.ｔｘｔ",
    "x.txt/",
    "",
    ".",
  ]) {
    await expectRefused(tested, form({ name }));
  }
});

test("a body without a file in the field `file` is refused", async () => {
  const tested = await start();
  const bodies: [string | Buffer, string?][] = [
    [form({ field: "attachment" })],
    [form({ field: "File" })],
    [form({ field: "__proto__" })],
    [form({ name: null })],
    [form()],
    [""],
    [form({ field: "note", name: null }), FORM],
    ["{}", "application/json"],
    ['{"file":"a.txt"}', "application/json"],
    ["hello", "text/plain"],
    ["file=a.txt", "application/x-www-form-urlencoded"],
    [form({}), "multipart/mixed; boundary=----boundary"],
  ];
  for (const [body, type] of bodies) await expectRefused(tested, body, 400, type);
  await expectRefused(tested, form({}), 400, null);
});

test("a form that is broken is refused, and nothing of it is kept", async () => {
  const tested = await start();
  const whole = form({ data: "hello ".repeat(1_000) });
  for (const length of [1, 20, 60, 110, 130, 200, 3_000, whole.length - 4 - BOUNDARY.length]) {
    await expectRefused(tested, whole.subarray(0, length));
  }
  await expectRefused(tested, whole, 400, "multipart/form-data");
  await expectRefused(tested, whole, 400, "multipart/form-data; boundary=other");
  await expectRefused(tested, Buffer.alloc(10_000, "--"));
  await expectRefused(tested, form(...Array.from({ length: 50 }, (_, i) => ({ field: `f${i}`, name: null }))));
});

test("two files in one form are refused, in whichever fields they are", async () => {
  const tested = await start();
  await expectRefused(tested, form({ name: "a.txt" }, { name: "b.txt" }));
  await expectRefused(tested, form({ name: "a.txt" }, { field: "other", name: "b.txt" }));
  await expectRefused(tested, form({ field: "other" }, { name: "b.txt", data: "x".repeat(100_000) }));
});

assumption("An attached file has 1 byte to 5 MB; a greater one is 413, an empty one 400.", async () => {
  const tested = await start();
  await expectRefused(tested, form({ data: Buffer.alloc(5 * MEGABYTE + 1) }), 413);
  await expectRefused(tested, form({ data: Buffer.alloc(40 * MEGABYTE) }), 413);
  await expectRefused(tested, form({ data: "" }));
  for (const size of [5 * MEGABYTE, 1]) {
    expect((await post(tested.emulator, form({ data: Buffer.alloc(size) }))).status).toBe(200);
  }
});

assumption("A ticket has at most 5 attachments; two may have the same name.", async () => {
  const tested = await start(["a.txt", "b.txt", "c.txt"]);
  for (const name of ["a.txt", "a.txt"]) expect((await post(tested.emulator, form({ name }))).status).toBe(200);
  await expectRefused(tested, form({ name: "e.txt" }));
  expect(await attached(tested)).toEqual(["a.txt", "b.txt", "c.txt", "a.txt", "a.txt"]);
});

assumption(
  "A file's name has at most 255 characters and no control characters; a path before it is dropped.",
  async () => {
    const tested = await start();
    for (const name of [
      `${"x".repeat(252)}.txt`,
      `${"漢".repeat(296)}.txt`,
      "a\u0001.txt",
      "a\t.txt",
      "a\u007f.txt",
      "\u0085.txt",
    ]) {
      await expectRefused(tested, form({ name }));
    }
  },
);

test("no other route takes a form", async () => {
  const { send } = await start();
  const headers = { "content-type": FORM };
  const body = form({ field: "label", name: null, data: "x" }).toString();
  for (const path of ["/vpcs", "/support/tickets", `${PATH}/replies`, `${PATH}/close`]) {
    const answer = await send("POST", path, body, headers);
    expect([path, answer.status, answer.body]).toEqual([
      path,
      400,
      { errors: [{ reason: "Content-Type must be application/json" }] },
    ]);
  }
});

test("a connection goes on after every refused form", async () => {
  const tested = await start();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const refused = [
    form({ data: Buffer.alloc(20 * MEGABYTE) }),
    form({}).subarray(0, 100),
    form({}, {}),
    form({ name: "a.exe", data: Buffer.alloc(2 * MEGABYTE) }),
  ];
  expect(form({}).length).toBeGreaterThan(110);
  for (const body of refused) {
    expect((await post(tested.emulator, body, FORM, agent)).status).toBeGreaterThanOrEqual(400);
    expect((await post(tested.emulator, "x".repeat(MEGABYTE), "text/plain", agent)).status).toBe(400);
  }
  expect((await post(tested.emulator, form({}), FORM, agent)).status).toBe(200);
  expect(await attached(tested)).toEqual(["a.txt"]);
});

test("a client that goes away in the middle leaves nothing behind, and the emulator alive", async () => {
  const tested = await start();
  const head = `POST /v4${FILES} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer emulator-token\r\nContent-Type: ${FORM}\r\nContent-Length: 100000\r\n\r\n`;
  for (const length of [0, 30, 120, 140]) {
    await new Promise<void>((resolve) => {
      const socket = connect(tested.emulator.port, "127.0.0.1", () => {
        socket.write(head);
        socket.write(form({}).subarray(0, length), () => setTimeout(() => socket.destroy(), 20));
      });
      socket.on("error", () => {});
      socket.on("close", () => resolve());
    });
  }
  expect(await attached(tested)).toEqual([]);
  expect((await post(tested.emulator, form({}))).status).toBe(200);
});
