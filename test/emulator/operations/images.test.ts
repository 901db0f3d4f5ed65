/** That every operation on images does what API.md says. */

import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { operation } from "../../support/emulated.ts";
import { startTested, type Tested } from "../../support/emulator.ts";

const ANONYMOUS = { authorization: "" };

function start(): Promise<Tested> {
  return startTested({
    seed: {
      images: [
        { id: "node/debian", label: "Debian", vendor: "Debian", size: 900 },
        { id: "private/1", label: "mine", description: "first" },
      ],
      disks: [{ id: 3, label: "boot", size: 100 }],
    },
  });
}

operation("Images List", () => {
  test("lists public images to everyone, private ones to their account", async () => {
    const { send } = await start();
    const ids = async (headers: Record<string, string>): Promise<string[]> =>
      (await send("GET", "/images", undefined, headers)).body.data.map((image: { id: string }) => image.id);
    expect(await ids({})).toEqual(["node/debian", "private/1"]);
    expect(await ids(ANONYMOUS)).toEqual(["node/debian"]);
  });
});

operation("Image Create", () => {
  test("captures a disk, which takes its time", async () => {
    const { send } = await start();
    const { status, body } = await send("POST", "/images", { disk_id: 3, cloud_init: true });
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
      size: 100,
      vendor: null,
      capabilities: ["cloud-init"],
    });
    expect((await send("GET", `/images/${body.id}`)).body.status).toBe("creating");
    expect((await send("GET", `/images/${body.id}`)).body).toMatchObject({ status: "available", size: 75 });
  });
});

operation("Image Upload", () => {
  test("waits for the data, and then takes its time", async () => {
    const { send } = await start();
    const { body } = await send("POST", "/images/upload", { label: "up", region: "us-east", description: "d" });
    const { image, upload_to } = body;
    expect(image).toMatchObject({ status: "pending_upload", size: 0, label: "up", description: "d" });
    const states: string[] = [];
    const read = async (): Promise<void> => {
      states.push((await send("GET", `/images/${image.id}`)).body.status);
    };
    for (let time = 0; time < 5; time += 1) await read();
    const headers = { "content-type": "application/octet-stream" };
    expect((await fetch(upload_to, { method: "PUT", body: gzipSync("a disk"), headers })).ok).toBe(true);
    for (let time = 0; time < 3; time += 1) await read();
    expect(states).toEqual([...Array(7).fill("pending_upload"), "available"]);
  });
});

operation("Image View", () => {
  test("shows an image under both spellings of its id", async () => {
    const { send } = await start();
    for (const id of ["private/1", "private%2F1"]) {
      expect((await send("GET", `/images/${id}`)).body).toMatchObject({ id: "private/1", description: "first" });
    }
    expect((await send("GET", "/images/node/debian", undefined, ANONYMOUS)).body).toMatchObject({ is_public: true });
    expect((await send("GET", "/images/private/1", undefined, ANONYMOUS)).status).toBe(401);
  });
});

operation("Image Update", () => {
  test("changes label and description, which may be null", async () => {
    const { send } = await start();
    const before = (await send("GET", "/images/private/1")).body;
    const { body } = await send("PUT", "/images/private%2F1", { label: "ours", description: null });
    expect(body).toEqual({ ...before, label: "ours", description: null, updated: body.updated });
    expect((await send("GET", "/images/private/1")).body).toEqual(body);
  });
});

operation("Image Delete", () => {
  test("removes a private image", async () => {
    const { send } = await start();
    expect(await send("DELETE", "/images/private/1")).toMatchObject({ status: 200, body: {} });
    expect((await send("GET", "/images/private/1")).status).toBe(404);
  });
});
