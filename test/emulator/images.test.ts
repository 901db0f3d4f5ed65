/** Images: what each operation does, what API.md forbids, and what was chosen where it is silent. */

import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { assumption, operation, rule } from "../support/emulated.ts";
import { startTested, type Tested } from "../support/emulator.ts";
import { expectRefused } from "./refused.ts";

const DATA = gzipSync(Buffer.alloc(3 * 1024 * 1024 + 1));
const OCTETS = { "content-type": "application/octet-stream" };
const DISKS = [{ id: 5, label: "boot", size: 2_000 }];
const PUBLIC = { id: "node/debian12", label: "Debian 12", vendor: "Debian", size: 900 };
const ASKED = { label: "new", region: "us-east" };
const ANONYMOUS = { authorization: "" };

function start(options: Parameters<typeof startTested>[0] = {}): Promise<Tested> {
  return startTested({
    now: () => Date.UTC(2026, 0, 1),
    seed: {
      tokens: [{ token: "emulator-token" }, { token: "reader", grants: { images: { mine: "read_only" } } }],
      images: [PUBLIC, { id: "private/1", label: "mine", description: "first" }],
      disks: DISKS,
    },
    ...options,
  });
}

/** Sends an upload's data. @returns the status; the body is an error, or empty */
async function put(url: string, body: string | Buffer, headers: Record<string, string> = OCTETS): Promise<number> {
  const answer = await fetch(url, { method: "PUT", body, headers });
  expect(Object.keys((await answer.json()) as object)).toEqual(answer.status === 200 ? [] : ["errors"]);
  return answer.status;
}

operation("Images List", () => {
  test("lists public images to everyone, private ones to their account", async () => {
    const { send } = await start();
    const ids = async (headers: Record<string, string>): Promise<string[]> =>
      (await send("GET", "/images", undefined, headers)).body.data.map((image: { id: string }) => image.id);
    expect(await ids({})).toEqual(["node/debian12", "private/1"]);
    expect(await ids(ANONYMOUS)).toEqual(["node/debian12"]);
  });
});

operation("Image Create", () => {
  test("captures a disk, which takes its time and makes the image smaller", async () => {
    const { send } = await start();
    const { status, body } = await send("POST", "/images", { disk_id: 5, cloud_init: true });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^private\/\d+$/),
      label: "boot",
      description: "",
      status: "creating",
      type: "manual",
      is_public: false,
      created_by: "emulator",
      created: expect.any(String),
      updated: body.created,
      expiry: null,
      eol: null,
      deprecated: false,
      size: 2_000,
      vendor: null,
      capabilities: ["cloud-init"],
    });
    expect((await send("GET", `/images/${body.id}`)).body.status).toBe("creating");
    expect((await send("GET", `/images/${body.id}`)).body).toMatchObject({ status: "available", size: 1_500 });
  });
});

operation("Image Upload", () => {
  test("waits for the data, and then takes its time", async () => {
    const { send, emulator } = await start();
    const { body } = await send("POST", "/images/upload", { ...ASKED, description: "d", cloud_init: true });
    const { image, upload_to } = body;
    expect(image).toMatchObject({
      ...{ status: "pending_upload", size: 0 },
      ...{ label: "new", description: "d", capabilities: ["cloud-init"] },
    });
    expect(new URL(upload_to).port).toBe(String(emulator.port));
    const states: [string, number][] = [];
    const read = async (): Promise<void> => {
      const { status, size } = (await send("GET", `/images/${image.id}`)).body;
      states.push([status, size]);
    };
    for (let time = 0; time < 5; time += 1) await read();
    expect(await put(upload_to, DATA)).toBe(200);
    for (let time = 0; time < 3; time += 1) await read();
    expect(states).toEqual([...Array(7).fill(["pending_upload", 0]), ["available", 4]]);
  });
});

const SPELLINGS = ["private/1", "private%2F1", "private%2f1"];

operation("Image View", () => {
  test("shows an image under each spelling of its id", async () => {
    const { send } = await start();
    for (const id of SPELLINGS) {
      expect((await send("GET", `/images/${id}`)).body).toMatchObject({ id: "private/1", description: "first" });
    }
    const shown = (await send("GET", "/images/node/debian12", undefined, ANONYMOUS)).body;
    expect(shown).toMatchObject({ is_public: true, created_by: "node" });
  });
});

operation("Image Update", () => {
  test("changes label and description, which may be null", async () => {
    const { send } = await start();
    const before = (await send("GET", "/images/private/1")).body;
    for (const id of SPELLINGS) {
      const { body } = await send("PUT", `/images/${id}`, { label: `by ${id}` });
      expect(body).toEqual({ ...before, label: `by ${id}`, updated: body.updated });
      expect((await send("GET", "/images/private/1")).body).toEqual(body);
    }
    expect((await send("PUT", "/images/private/1", { description: null })).body.description).toBeNull();
  });
});

operation("Image Delete", () => {
  test("removes a private image", async () => {
    for (const id of SPELLINGS) {
      const { send } = await start();
      expect(await send("DELETE", `/images/${id}`)).toMatchObject({ status: 200, body: {} });
      expect((await send("GET", "/images/private/1")).status).toBe(404);
    }
  });
});

const capture = (change: object, field: string, reason: string) => ({
  ...{ method: "POST", path: "/images", body: { disk_id: 5, ...change } },
  ...{ field, reason },
});
const upload = (change: object, field: string, reason: string) => ({
  ...{ method: "POST", path: "/images/upload", body: { ...ASKED, ...change } },
  ...{ field, reason },
});
const update = (body: object, field: string, reason: string) => ({
  ...{ method: "PUT", path: "/images/private/1", body },
  ...{ field, reason },
});

rule("Image: label", async () => {
  const tested = await start();
  const length = "Length must be 1-255 characters";
  for (const label of [undefined, null]) {
    await expectRefused(tested, upload({ label }, "label", "label is required"));
  }
  await expectRefused(tested, update({ label: null }, "label", "label is required"));
  for (const request of [capture, upload, update]) {
    await expectRefused(tested, request({ label: "" }, "label", length));
    await expectRefused(tested, request({ label: "x".repeat(256) }, "label", length));
    await expectRefused(tested, request({ label: 1 }, "label", "Must be a string"));
  }
});

rule(["Image: description", "Limits: Image description"], async () => {
  const tested = await start();
  for (const description of ["", "x".repeat(65_001)]) {
    for (const request of [capture, upload, update]) {
      await expectRefused(tested, request({ description }, "description", "Length must be 1-65000 characters"));
    }
  }
  const description = "x".repeat(65_000);
  expect((await tested.send("PUT", "/images/private/1", { description })).status).toBe(200);
});

test("cloud_init is true, false or nothing", async () => {
  const tested = await start();
  for (const request of [capture, upload]) {
    await expectRefused(tested, request({ cloud_init: "yes" }, "cloud_init", "Must be true or false"));
  }
});

rule("Images: rule 1", async () => {
  const tested = await start();
  await expectRefused(tested, capture({ disk_id: undefined }, "disk_id", "disk_id is required"));
  await expectRefused(tested, capture({ disk_id: "5" }, "disk_id", "Must be an integer"));
});

rule("Images: rule 2", async () => {
  const tested = await start();
  await expectRefused(tested, upload({ region: undefined }, "region", "region is required"));
  await expectRefused(tested, upload({ region: "nowhere" }, "region", "region is not valid"));
  const { upload_to, image } = (await tested.send("POST", "/images/upload", ASKED)).body;
  for (const body of ["plain text", ""]) expect(await put(upload_to, body)).toBe(400);
  for (const type of ["application/gzip", "application/json"]) {
    expect(await put(upload_to, DATA, { "content-type": type })).toBe(400);
  }
  expect((await fetch(upload_to, { method: "POST", body: DATA })).status).toBe(404);
  for (let read = 0; read < 3; read += 1) {
    expect((await tested.send("GET", `/images/${image.id}`)).body.status).toBe("pending_upload");
  }
});

rule("Limits: Upload completion window", async () => {
  const { send, emulator } = await start({ seed: {} });
  const [empty, sent] = [1, 2].map(async () => (await send("POST", "/images/upload", ASKED)).body);
  const url = (await empty).upload_to;
  expect(await put((await sent).upload_to, DATA)).toBe(200);
  const ids = async (): Promise<string[]> =>
    (await send("GET", "/images")).body.data.map(({ id }: { id: string }) => id);
  await emulator.advanceClock(24 * 3600 - 1);
  expect(await ids()).toHaveLength(2);
  await emulator.advanceClock(1);
  expect((await send("GET", `/images/${(await empty).image.id}`)).status).toBe(404);
  expect(await ids()).toEqual([(await sent).image.id]);
  expect(await put(url, DATA)).toBe(404);
});

rule("Limits: Upload file size", async () => {
  const { send, emulator } = await start();
  const { body } = await send("POST", "/images/upload", ASKED);
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

rule("Images: rule 3", async () => {
  const tested = await start();
  const forbidden = { field: null, status: 403 };
  const headers = { authorization: "Bearer reader" };
  await expectRefused(tested, { method: "PUT", path: "/images/node/debian12", body: { label: "x" }, ...forbidden });
  await expectRefused(tested, { method: "DELETE", path: "/images/node/debian12", ...forbidden });
  await expectRefused(tested, {
    method: "PUT",
    path: "/images/private/1",
    body: { label: "x" },
    headers,
    ...forbidden,
  });
  await expectRefused(tested, { method: "DELETE", path: "/images/private/1", headers, ...forbidden });
});

rule("Images: rule 4", async () => {
  const tested = await start();
  for (const id of ["1", "private", "private/1/2", "private/", "PRIVATE/1", "node/1"]) {
    await expectRefused(tested, { method: "DELETE", path: `/images/${id}`, field: null, status: 404 });
  }
});

assumption("An image's label has 1 to 255 characters of any kind.", async () => {
  const { send } = await start();
  const status = async (label: string) => (await send("POST", "/images/upload", { ...ASKED, label })).status;
  expect(await Promise.all(["x".repeat(255), "ü/漢", "x".repeat(256), ""].map(status))).toEqual([200, 200, 400, 400]);
});

assumption(
  "An empty image description is refused, null is accepted. An omitted one is an empty text on a captured image and null on an uploaded one.",
  async () => {
    const { send } = await start();
    expect((await send("PUT", "/images/private/1", { description: "" })).status).toBe(400);
    expect((await send("PUT", "/images/private/1", { description: null })).body.description).toBeNull();
    expect((await send("POST", "/images", { disk_id: 5 })).body.description).toBe("");
    expect((await send("POST", "/images/upload", ASKED)).body.image.description).toBeNull();
  },
);

assumption("Updating or deleting a public image is 403. An unknown `disk_id` is 404.", async () => {
  const tested = await start();
  for (const method of ["PUT", "DELETE"]) {
    const request = { method, path: "/images/node/debian12", field: null };
    await expectRefused(tested, { ...request, reason: "Unauthorized", status: 403 });
  }
  const body = { disk_id: 99 };
  const request = { method: "POST", path: "/images", body, field: null };
  await expectRefused(tested, { ...request, reason: "Not found", status: 404 });
});

assumption(
  "Reads of an image move it on: the first is shown `creating`, the next `available`. A list reads every image that the caller sees, whatever its filter and page. A captured image comes to 75% of its disk.",
  async () => {
    const { send } = await start();
    const { id } = (await send("POST", "/images", { disk_id: 5 })).body;
    const filter = { "x-filter": JSON.stringify({ label: "boot" }) };
    expect((await send("GET", "/images", undefined, filter)).body.data).toMatchObject([{ status: "creating" }]);
    expect((await send("GET", `/images/${id}`)).body).toMatchObject({ status: "available", size: 1_500 });
  },
);

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

assumption("Images in any state can be deleted.", async () => {
  const { send } = await start();
  const captured = (await send("POST", "/images", { disk_id: 5 })).body;
  const uploaded = (await send("POST", "/images/upload", ASKED)).body.image;
  expect([captured.status, uploaded.status]).toEqual(["creating", "pending_upload"]);
  for (const { id } of [captured, uploaded]) expect((await send("DELETE", `/images/${id}`)).status).toBe(200);
});

assumption(
  "An upload target takes whole gzip data, again too, until the image is available; an Authorization header there is 400, a wrong signature 403, and data that is cut off leaves the image waiting.",
  async () => {
    const { send, emulator } = await start();
    const { upload_to: url, image } = (await send("POST", "/images/upload", ASKED)).body;
    expect(await put(`${url}0`, DATA)).toBe(403);
    expect(await put(url.replace(/signature=.*/, "signature=wrong"), DATA)).toBe(403);
    expect(await put(url.replace(/\?.*/, ""), DATA)).toBe(403);
    expect(await put(url.replace("private/", "private/9"), DATA)).toBe(404);
    expect(await put(url, DATA, { ...OCTETS, authorization: "Bearer emulator-token" })).toBe(400);
    for (const lost of [3, 10]) expect(await put(url, DATA.subarray(0, -lost))).toBe(400);
    const read = async (): Promise<string> => (await send("GET", `/images/${image.id}`)).body.status;
    for (let time = 0; time < 4; time += 1) expect(await read()).toBe("pending_upload");
    for (let time = 0; time < 2; time += 1) expect(await put(url, DATA)).toBe(200);
    for (let time = 0; time < 3; time += 1) await read();
    expect(await put(url, DATA)).toBe(400);
    expect(emulator.requests.some(({ path }) => path.startsWith("/_upload/private/"))).toBe(true);
  },
);

test("images are filtered by the fields of their list", async () => {
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
});

assumption("An image's `+order_by` status is 400.", async () => {
  const { send } = await start();
  const order = (by: string) => send("GET", "/images", undefined, { "x-filter": JSON.stringify({ "+order_by": by }) });
  const { status, body } = await order("status");
  expect([status, body.errors]).toEqual([400, [{ reason: "Cannot order by status", field: "X-Filter" }]]);
  expect((await order("label")).status).toBe(200);
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
