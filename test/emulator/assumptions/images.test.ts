/** Choices about images and their uploads. */

import { gzipSync } from "node:zlib";
import { expect } from "vitest";
import { assumption } from "../../support/emulated.ts";
import { startTested, type Tested } from "../../support/emulator.ts";

function start(): Promise<Tested> {
  return startTested({
    seed: {
      images: [
        { id: "node/debian", label: "Debian" },
        { id: "private/1", label: "mine" },
      ],
      disks: [{ id: 3, label: "boot", size: 1000 }],
    },
  });
}

const ASKED = { label: "new", region: "us-east" };
const DATA = { method: "PUT", body: gzipSync("a disk"), headers: { "content-type": "application/octet-stream" } };

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
    expect((await send("POST", "/images", { disk_id: 3 })).body.description).toBe("");
    expect((await send("POST", "/images/upload", ASKED)).body.image.description).toBeNull();
  },
);

assumption("Updating or deleting a public image is 403. An unknown `disk_id` is 404.", async () => {
  const { send } = await start();
  expect((await send("PUT", "/images/node/debian", { label: "x" })).status).toBe(403);
  expect((await send("DELETE", "/images/node/debian")).status).toBe(403);
  expect((await send("POST", "/images", { disk_id: 4 })).status).toBe(404);
});

assumption(
  "Reads of an image move it on: the first is shown `creating`, the next `available`. A list reads every image that the caller sees, whatever its filter and page. A captured image comes to 75% of its disk.",
  async () => {
    const { send } = await start();
    const { id } = (await send("POST", "/images", { disk_id: 3 })).body;
    const filter = { "x-filter": JSON.stringify({ label: "boot" }) };
    expect((await send("GET", "/images", undefined, filter)).body.data).toMatchObject([{ status: "creating" }]);
    expect((await send("GET", `/images/${id}`)).body).toMatchObject({ status: "available", size: 750 });
  },
);

assumption("Images in any state can be deleted.", async () => {
  const { send } = await start();
  const captured = (await send("POST", "/images", { disk_id: 3 })).body;
  const uploaded = (await send("POST", "/images/upload", ASKED)).body.image;
  expect([captured.status, uploaded.status]).toEqual(["creating", "pending_upload"]);
  for (const { id } of [captured, uploaded]) expect((await send("DELETE", `/images/${id}`)).status).toBe(200);
});

assumption(
  "An upload target takes whole gzip data, again too, until the image is available; an Authorization header there is 400, a wrong signature 403, and data that is cut off leaves the image waiting.",
  async () => {
    const { send } = await start();
    const { upload_to, image } = (await send("POST", "/images/upload", ASKED)).body;
    const put = async (url: string, change: object = {}): Promise<number> =>
      (await fetch(url, { ...DATA, ...change })).status;
    expect(await put(`${upload_to}0`)).toBe(403);
    expect(await put(upload_to, { headers: { ...DATA.headers, authorization: "Bearer emulator-token" } })).toBe(400);
    expect(await put(upload_to, { body: DATA.body.subarray(0, -3) })).toBe(400);
    for (let time = 0; time < 4; time += 1) {
      expect((await send("GET", `/images/${image.id}`)).body.status).toBe("pending_upload");
    }
    expect(await put(upload_to)).toBe(200);
    expect(await put(upload_to)).toBe(200);
    for (let time = 0; time < 3; time += 1) await send("GET", `/images/${image.id}`);
    expect(await put(upload_to)).toBe(400);
  },
);
