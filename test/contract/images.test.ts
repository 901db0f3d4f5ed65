/** Images, as the service's own client captures, uploads, lists, changes and deletes them. */

import { gzipSync } from "node:zlib";
import {
  baseRequest,
  createImage,
  deleteImage,
  getImage,
  getImages,
  type Image,
  updateImage,
  uploadImage,
} from "@linode/api-v4";
import { expect, test } from "vitest";
import { connect, refusal } from "./client.ts";

const DISK = { id: 123, label: "boot", size: 2_048 };
const DEBIAN = { id: "node/debian12", label: "Debian 12", vendor: "Debian", size: 900, created: "2023-06-10T00:00:00" };
const GOLDEN = { id: "private/77", label: "golden", description: "Base image", size: 1_500 };

const DATA = gzipSync(Buffer.alloc(3 * 1024 ** 2 + 1));

test("an image of a disk is creating, then available and smaller than the disk", async () => {
  await connect({ seed: { disks: [DISK] } });
  const image = await createImage({ disk_id: 123, label: "golden", description: "Base image", cloud_init: true });
  expect(image).toMatchObject({ label: "golden", description: "Base image", status: "creating", size: 2_048 });
  expect(image).toMatchObject({ type: "manual", is_public: false, capabilities: ["cloud-init"], vendor: null });
  expect(image.id).toMatch(/^private\/\d+$/);
  expect(await getImage(image.id)).toEqual(image);
  const available = await getImage(image.id);
  expect(available).toEqual({ ...image, status: "available", size: available.size, updated: available.updated });
  expect(available.size).toBeLessThan(2_048);
  expect(await createImage({ disk_id: 123 })).toMatchObject({ label: "boot", capabilities: [] });
  expect(await refusal(createImage({ disk_id: 124 }))).toMatchObject({ status: 404 });
});

test("an upload waits for its data, is processed, and becomes available", async () => {
  await connect();
  const { image, upload_to } = await uploadImage({ label: "golden", region: "us-east", cloud_init: true });
  expect(image).toMatchObject({ label: "golden", status: "pending_upload", size: 0, capabilities: ["cloud-init"] });
  expect((await getImage(image.id)).status).toBe("pending_upload");
  const headers = { "content-type": "application/octet-stream" };
  expect((await fetch(upload_to, { method: "PUT", body: DATA, headers })).ok).toBe(true);
  const states: [Image["status"], boolean][] = [];
  for (let look = 0; look < 3; look += 1) {
    const { status, size } = await getImage(image.id);
    states.push([status, size > 0]);
  }
  expect(states).toEqual([
    ["pending_upload", false],
    ["pending_upload", false],
    ["available", true],
  ]);
});

test("an upload without data is gone after 24 hours", async () => {
  const { emulator } = await connect();
  const { image } = await uploadImage({ label: "golden", region: "us-east" });
  await emulator.advanceClock(24 * 60 * 60 - 60);
  expect((await getImage(image.id)).status).toBe("pending_upload");
  await emulator.advanceClock(60);
  expect(await refusal(getImage(image.id))).toMatchObject({ status: 404, errors: [{ reason: "Not found" }] });
});

test("an image is found by its id percent-encoded, as the client sends it, and in plain segments", async () => {
  const { emulator } = await connect({ seed: { images: [DEBIAN, GOLDEN] } });
  for (const id of ["private/77", "linode/debian12"]) {
    const image = await getImage(id);
    expect(image.id).toBe(id);
    expect((await baseRequest.get<Image>(`https://api.linode.com/v4/images/${id}`)).data).toEqual(image);
  }
  expect(emulator.requests.map(({ path }) => path)).toEqual([
    "/v4/images/private%2F77",
    "/v4/images/private/77",
    "/v4/images/linode%2Fdebian12",
    "/v4/images/linode/debian12",
  ]);
  expect(await refusal(getImage("node/debian12"))).toMatchObject({ status: 404 });
});

test("the web client's tables of public, own and automatic images are filtered and ordered", async () => {
  const dated = (id: number, label: string, created: string) => ({ id: `private/${id}`, label, created, size: id });
  const automatic = { id: "private/9", label: "left over", type: "automatic" as const, expiry: "2030-01-01T00:00:00" };
  const images = [
    DEBIAN,
    automatic,
    dated(1, "old", "2024-01-01T00:00:00"),
    dated(3, "new", "2026-01-01T00:00:00"),
    dated(2, "mid", "2025-01-01T00:00:00"),
  ];
  await connect({ seed: { images } });
  const labels = async (filter: object) =>
    (await getImages({ page: 1, page_size: 25 }, { ...filter })).data.map(({ label }) => label);
  const own = { is_public: false, type: "manual" };
  expect(await labels({ ...own, "+order": "asc", "+order_by": "label" })).toEqual(["mid", "new", "old"]);
  expect(await labels({ ...own, "+order": "desc", "+order_by": "created" })).toEqual(["new", "mid", "old"]);
  expect(await labels({ ...own, "+order": "asc", "+order_by": "size" })).toEqual(["old", "mid", "new"]);
  expect(await labels({ ...own, label: { "+contains": "l" } })).toEqual(["old"]);
  expect(await labels({ is_public: false, type: "automatic", "+order_by": "expiry" })).toEqual(["left over"]);
  expect(await labels({ is_public: true, vendor: "Debian" })).toEqual(["Debian 12"]);
  expect(await labels({ status: "available", is_public: true })).toEqual(["Debian 12"]);
  expect((await refusal(getImages({}, { "+order_by": "status" }))).status).toBe(400);
});

test("an own image is renamed and described; a public one is not", async () => {
  await connect({ seed: { images: [DEBIAN, GOLDEN] } });
  const before = await getImage("private/77");
  const renamed = await updateImage("private/77", { label: "silver" });
  expect(renamed).toEqual({ ...before, label: "silver", updated: renamed.updated });
  // What the web client sends for an empty description, because the service refuses an empty one.
  expect(await updateImage("private/77", { label: "silver", description: " ", tags: [] })).toMatchObject({
    description: " ",
  });
  expect(await refusal(updateImage("private/77", { description: "" }))).toMatchObject({
    status: 400,
    errors: [{ field: "description" }],
  });
  expect(await getImage("private/77")).toMatchObject({ label: "silver", description: " " });
  expect(await refusal(updateImage("linode/debian12", { label: "mine" }))).toMatchObject({ status: 403 });
});

test("a deleted image is gone; a public one cannot be deleted", async () => {
  await connect({ seed: { images: [DEBIAN, GOLDEN] } });
  expect(await deleteImage("private/77")).toEqual({});
  expect(await refusal(getImage("private/77"))).toMatchObject({ status: 404 });
  expect(await refusal(deleteImage("linode/debian12"))).toMatchObject({ status: 403 });
  expect((await getImages()).data.map(({ id }) => id)).toEqual(["linode/debian12"]);
});

test("public images are read without a token, own ones are not", async () => {
  const { useToken } = await connect({ seed: { images: [DEBIAN, GOLDEN] } });
  useToken(null);
  const list = await getImages();
  expect(list.data).toMatchObject([{ id: "linode/debian12", created_by: "linode", is_public: true }]);
  expect(await getImage("linode/debian12")).toEqual(list.data[0]);
  expect(await refusal(getImage("private/77"))).toMatchObject({ status: 401, errors: [{ reason: "Invalid Token" }] });
  expect((await refusal(uploadImage({ label: "x", region: "us-east" }))).status).toBe(401);
});
