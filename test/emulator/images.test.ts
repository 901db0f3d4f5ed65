/** Images: capture, upload, states, who may see and change them, and one bad request per rule. */

import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { startTested } from "../support/emulator.ts";

const DATA = gzipSync(Buffer.alloc(3 * 1024 * 1024 + 1));
const OCTETS = { "content-type": "application/octet-stream" };
const DISKS = [{ id: 5, label: "boot", size: 2_000 }];
const PUBLIC = { id: "node/debian12", label: "Debian 12", vendor: "Debian", size: 900 };

async function put(url: string, body: string | Buffer, headers: Record<string, string> = OCTETS): Promise<number> {
  const answer = await fetch(url, { method: "PUT", body, headers });
  expect(Object.keys((await answer.json()) as object)).toEqual(answer.status === 200 ? [] : ["errors"]);
  return answer.status;
}

test("an image of a disk is creating, then available and smaller", async () => {
  const { send } = await startTested({ seed: { disks: DISKS } });
  const { body: image } = await send("POST", "/images", { disk_id: 5, cloud_init: true });
  expect(image).toMatchObject({ label: "boot", status: "creating", size: 2_000, capabilities: ["cloud-init"] });
  expect(image).toMatchObject({ type: "manual", is_public: false, created_by: "emulator", expiry: null, eol: null });
  expect(image).not.toHaveProperty("cloud_init");
  expect((await send("GET", `/images/${image.id}`)).body.status).toBe("creating");
  const { body: available } = await send("GET", `/images/${image.id}`);
  expect([available.status, available.size]).toEqual(["available", 1_500]);
});

test("lists count as reads, and how many it takes can be chosen", async () => {
  const readsUntilAvailable = { creating: 3, pendingUpload: 0 };
  const { send, control } = await startTested({ readsUntilAvailable });
  await control("POST", "/disks", { id: 8, label: "data", size: 100 });
  await send("POST", "/images", { disk_id: 8, label: "one", description: "text" });
  const states: string[] = [];
  for (let read = 0; read < 5; read += 1) states.push((await send("GET", "/images")).body.data[0].status);
  expect(states).toEqual(["creating", "creating", "creating", "available", "available"]);
  const { body } = await send("POST", "/images/upload", { label: "two", region: "us-east" });
  expect((await send("GET", `/images/${body.image.id}`)).body.status).toBe("pending_upload");
  await put(body.upload_to, DATA);
  expect((await send("GET", `/images/${body.image.id}`)).body.status).toBe("available");
});

test("an upload stays pending until its data was sent and looked at", async () => {
  const { send, emulator } = await startTested();
  const { body } = await send("POST", "/images/upload", { label: "golden", region: "us-east", cloud_init: true });
  expect(body.image).toMatchObject({
    status: "pending_upload",
    size: 0,
    capabilities: ["cloud-init"],
    label: "golden",
  });
  expect(new URL(body.upload_to).port).toBe(String(emulator.port));
  const at = `/images/${encodeURIComponent(body.image.id)}`;
  for (let read = 0; read < 5; read += 1) expect((await send("GET", at)).body.status).toBe("pending_upload");
  expect(await put(body.upload_to, DATA)).toBe(200);
  const states: [string, number][] = [];
  for (let read = 0; read < 3; read += 1) {
    const { body: image } = await send("GET", at);
    states.push([image.status, image.size]);
  }
  expect(states).toEqual([
    ["pending_upload", 0],
    ["pending_upload", 0],
    ["available", 4],
  ]);
  expect(await put(body.upload_to, DATA)).toBe(400);
});

test("data that is not what it must be is refused, and the image keeps waiting", async () => {
  const { send, emulator } = await startTested();
  const { body } = await send("POST", "/images/upload", { label: "golden", region: "us-east" });
  const url: string = body.upload_to;
  expect(await put(url, "plain text")).toBe(400);
  expect(await put(url, DATA.subarray(0, DATA.length - 10))).toBe(400);
  expect(await put(url, "")).toBe(400);
  expect(await put(url, DATA, { "content-type": "application/gzip" })).toBe(400);
  expect(await put(url, DATA, { "content-type": "application/json" })).toBe(400);
  expect(await put(url, DATA, { ...OCTETS, authorization: "Bearer emulator-token" })).toBe(400);
  expect(await put(url.replace(/signature=.*/, "signature=wrong"), DATA)).toBe(403);
  expect(await put(url.replace(/\?.*/, ""), DATA)).toBe(403);
  expect(await put(url.replace("private/", "private/9"), DATA)).toBe(404);
  for (let read = 0; read < 3; read += 1) {
    expect((await send("GET", `/images/${body.image.id}`)).body.status).toBe("pending_upload");
  }
  expect(emulator.requests.some(({ path }) => path.startsWith("/_upload/private/"))).toBe(true);
  expect(await put(url, DATA)).toBe(200);
});

test("more than 5 GB is refused before it is sent", async () => {
  const { send, emulator } = await startTested();
  const { body } = await send("POST", "/images/upload", { label: "golden", region: "us-east" });
  const { pathname, search } = new URL(body.upload_to);
  const head = [
    `PUT ${pathname}${search} HTTP/1.1`,
    "Host: 127.0.0.1",
    "Content-Type: application/octet-stream",
    `Content-Length: ${5 * 1024 ** 3 + 1}`,
  ];
  const answer = await new Promise<string>((resolve) => {
    const socket = connect(emulator.port, "127.0.0.1", () => socket.write(`${head.join("\r\n")}\r\n\r\n`));
    socket.on("data", (data) => {
      resolve(data.toString());
      socket.destroy();
    });
  });
  expect(answer).toContain("HTTP/1.1 413 ");
  expect(answer).toContain("at most 5 GB");
});

test("an upload without data is gone after 24 hours, one with data stays", async () => {
  const { send, control, emulator } = await startTested();
  const upload = async (): Promise<{ image: { id: string }; upload_to: string }> =>
    (await send("POST", "/images/upload", { label: "x", region: "us-east" })).body;
  const [empty, sent] = [await upload(), await upload()];
  await put(sent.upload_to, DATA);
  await emulator.advanceClock(24 * 3600 - 10);
  expect((await send("GET", `/images/${empty.image.id}`)).status).toBe(200);
  expect((await control("POST", "/clock", { advance_seconds: 11 })).status).toBe(200);
  expect((await send("GET", `/images/${empty.image.id}`)).status).toBe(404);
  expect((await send("GET", "/images")).body.data.map(({ id }: { id: string }) => id)).toEqual([sent.image.id]);
  expect(await put(empty.upload_to, DATA)).toBe(404);
  for (const body of [{}, { advance_seconds: -1 }, { advance_seconds: 1.5 }, { advance_seconds: "1" }]) {
    expect((await control("POST", "/clock", body)).status).toBe(400);
  }
});

test("the clock goes on for no more than 100 years in all", async () => {
  const { send, control, emulator } = await startTested();
  expect((await control("POST", "/clock", { advance_seconds: 3_155_760_000 })).status).toBe(200);
  const { status, body } = await control("POST", "/clock", { advance_seconds: 1 });
  expect({ status, body }).toEqual({
    status: 400,
    body: { errors: [{ reason: "Must be at most 3155760000 in all", field: "advance_seconds" }] },
  });
  for (const seconds of [1, -1, Number.NaN]) await expect(emulator.advanceClock(seconds)).rejects.toThrow("Must be");
  expect((await send("GET", "/images")).status).toBe(200);
});

const BAD_IMAGES: [string, string, Record<string, unknown>, string][] = [
  ["POST", "/images", {}, "disk_id"],
  ["POST", "/images", { disk_id: "5" }, "disk_id"],
  ["POST", "/images", { disk_id: 5, label: "" }, "label"],
  ["POST", "/images", { disk_id: 5, label: 1 }, "label"],
  ["POST", "/images", { disk_id: 5, description: "" }, "description"],
  ["POST", "/images", { disk_id: 5, description: "x".repeat(65_001) }, "description"],
  ["POST", "/images", { disk_id: 5, cloud_init: "yes" }, "cloud_init"],
  ["POST", "/images/upload", { region: "us-east" }, "label"],
  ["POST", "/images/upload", { label: null, region: "us-east" }, "label"],
  ["POST", "/images/upload", { label: "a" }, "region"],
  ["POST", "/images/upload", { label: "a", region: "nowhere" }, "region"],
  ["PUT", "/images/private/1", { label: null }, "label"],
  ["PUT", "/images/private/1", { label: "" }, "label"],
  ["PUT", "/images/private/1", { description: "" }, "description"],
  ["PUT", "/images/private/1", { description: "x".repeat(65_001) }, "description"],
];

test.each(BAD_IMAGES)("%s %s with %j is refused", async (method, path, body, field) => {
  const images = [{ id: "private/1", label: "mine" }];
  const { send } = await startTested({ seed: { disks: DISKS, images } });
  const answer = await send(method, path, body);
  expect([answer.status, answer.body.errors.map((error: { field: string }) => error.field)]).toEqual([400, [field]]);
  expect((await send("GET", "/images")).body.data).toMatchObject([{ label: "mine", description: null }]);
  expect((await send("GET", "/images")).body.results).toBe(1);
});

test("an image is updated and deleted under both forms of its id", async () => {
  const { send } = await startTested({ seed: { images: [{ id: "private/1", label: "mine", description: "d" }] } });
  for (const id of ["private/1", "private%2F1", "private%2f1"]) {
    expect((await send("GET", `/images/${id}`)).body.id).toBe("private/1");
    expect((await send("PUT", `/images/${id}`, { label: `by ${id}` })).body.label).toBe(`by ${id}`);
  }
  expect((await send("PUT", "/images/private/1", { description: null })).body.description).toBeNull();
  expect((await send("DELETE", "/images/private%2F1")).body).toEqual({});
  expect((await send("GET", "/images/private/1")).status).toBe(404);
  expect((await send("POST", "/images", { disk_id: 99 })).status).toBe(404);
});

test("without credentials only public images can be read", async () => {
  const { send } = await startTested({ seed: { images: [PUBLIC, { id: "private/1", label: "mine" }] } });
  const nobody = { authorization: "" };
  const { body: list } = await send("GET", "/images", undefined, nobody);
  expect(list.data.map(({ id }: { id: string }) => id)).toEqual(["node/debian12"]);
  expect((await send("GET", "/images")).body.results).toBe(2);
  expect((await send("GET", "/images/node/debian12", undefined, nobody)).body).toMatchObject({ created_by: "node" });
  expect((await send("GET", "/images/private/1", undefined, nobody)).status).toBe(401);
  expect((await send("GET", "/images/private/2", undefined, nobody)).status).toBe(401);
  expect((await send("GET", "/images/node/other", undefined, nobody)).status).toBe(404);
  expect((await send("GET", "/images", undefined, { authorization: "Bearer wrong" })).status).toBe(401);
  for (const method of ["PUT", "DELETE"]) {
    expect((await send(method, "/images/private/1", undefined, nobody)).status).toBe(401);
    expect((await send(method, "/images/node/debian12")).status).toBe(403);
  }
});

test("grants say which images a restricted user may change", async () => {
  const images = [
    { id: "private/1", label: "mine" },
    { id: "private/2", label: "other" },
  ];
  const grants = { images: { mine: "read_write", "private/2": "read_only" } } as const;
  const { send } = await startTested({ seed: { images, disks: DISKS, tokens: [{ token: "emulator-token", grants }] } });
  expect((await send("PUT", "/images/private/1", { label: "x" })).status).toBe(200);
  expect((await send("PUT", "/images/private/2", { label: "x" })).status).toBe(403);
  expect((await send("DELETE", "/images/private/2")).status).toBe(403);
  const { body } = await send("POST", "/images", { disk_id: 5 });
  expect((await send("DELETE", `/images/${body.id}`)).status).toBe(200);
});

test("capturing needs the scope of nodes as well, in either vocabulary", async () => {
  const tokens = [
    { token: "without", scopes: ["images:read_write"] },
    { token: "neutral", scopes: ["images:read_write", "nodes:read_only"] },
    { token: "branded", scopes: ["images:read_write", "linodes:read_only"] },
  ];
  const { send } = await startTested({ dialect: "linode", seed: { tokens, disks: DISKS } });
  const statuses: number[] = [];
  for (const { token } of tokens) {
    statuses.push((await send("POST", "/images", { disk_id: 5 }, { authorization: `Bearer ${token}` })).status);
  }
  expect(statuses).toEqual([403, 200, 200]);
});

test("public images carry the operator's word", async () => {
  const { send } = await startTested({ dialect: "linode", seed: { images: [PUBLIC] } });
  expect((await send("GET", "/images/linode/debian12")).body).toMatchObject({
    id: "linode/debian12",
    created_by: "linode",
  });
  expect((await send("GET", "/images/linode%2Fdebian12")).status).toBe(200);
  expect((await send("GET", "/images/node/debian12")).status).toBe(404);
  expect((await send("GET", "/images")).body.data[0].id).toBe("linode/debian12");
});

test("images are filtered by the fields of their list, and not ordered by status", async () => {
  const images = [PUBLIC, { id: "private/1", label: "a", size: 10 }, { id: "private/2", label: "b", size: 20 }];
  const { send } = await startTested({ seed: { images } });
  const found = async (filter: unknown): Promise<string[]> =>
    (await send("GET", "/images", undefined, { "x-filter": JSON.stringify(filter) })).body.data.map(
      ({ id }: { id: string }) => id,
    );
  expect(await found({ is_public: false })).toEqual(["private/1", "private/2"]);
  expect(await found({ size: { "+gte": 20 }, is_public: false })).toEqual(["private/2"]);
  expect(await found({ vendor: "Debian" })).toEqual(["node/debian12"]);
  expect(await found({ type: "manual", status: "available", deprecated: false, label: "a" })).toEqual(["private/1"]);
  const { status, body } = await send("GET", "/images", undefined, { "x-filter": '{"+order_by":"status"}' });
  expect([status, body.errors]).toEqual([400, [{ reason: "Cannot order by status", field: "X-Filter" }]]);
});

test("an image can take time instead of reads", async () => {
  const { send, control } = await startTested({
    secondsUntilAvailable: { creating: 60, pendingUpload: 90 },
    seed: { disks: [{ id: 3, label: "boot", size: 100 }] },
  });
  const captured = (await send("POST", "/images", { disk_id: 3 })).body.id;
  const uploaded = (await send("POST", "/images/upload", { label: "a", region: "us-east" })).body;
  const states = async () =>
    Promise.all([captured, uploaded.image.id].map(async (id) => (await send("GET", `/images/${id}`)).body.status));
  for (let time = 0; time < 4; time += 1) expect(await states()).toEqual(["creating", "pending_upload"]);
  await control("POST", "/clock", { advance_seconds: 61 });
  expect(await states()).toEqual(["available", "pending_upload"]);
  const headers = { "content-type": "application/octet-stream" };
  await fetch(uploaded.upload_to, { method: "PUT", body: gzipSync("a disk"), headers });
  await control("POST", "/clock", { advance_seconds: 60 });
  expect(await states()).toEqual(["available", "pending_upload"]);
  await control("POST", "/clock", { advance_seconds: 31 });
  expect(await states()).toEqual(["available", "available"]);
});

test.each([
  ["reads", {}],
  ["time", { secondsUntilAvailable: { creating: 60, pendingUpload: 60 } }],
])("who polls with a filter sees an image come to its end, by %s", async (_name, options) => {
  const { send, emulator } = await startTested({ ...options, seed: { disks: DISKS } });
  await send("POST", "/images", { disk_id: 5 });
  const count = async (filter: object): Promise<number> =>
    (await send("GET", "/images", undefined, { "x-filter": JSON.stringify(filter) })).body.results;
  expect(await count({ status: "available" })).toBe(0);
  await emulator.advanceClock(60);
  expect(await count({ status: "available", size: 1_500 })).toBe(1);
  expect(await count({ "+or": [{ status: "creating" }, { size: 2_000 }] })).toBe(0);
});

test("an automatic image is gone when its time is over, and no other one is", async () => {
  const { send, control } = await startTested({
    now: () => Date.UTC(2026, 0, 1),
    seed: {
      images: [
        { id: "private/1", label: "kept", type: "manual", expiry: "2026-01-02T00:00:00" },
        { id: "private/2", label: "gone", type: "automatic", expiry: "2026-01-02T00:00:00" },
      ],
    },
  });
  const labels = async () => (await send("GET", "/images")).body.data.map((image: { label: string }) => image.label);
  expect(await labels()).toEqual(["kept", "gone"]);
  await control("POST", "/clock", { advance_seconds: 24 * 3600 });
  expect(await labels()).toEqual(["kept"]);
});
