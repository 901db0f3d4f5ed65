/** What API.md forbids of images, and of lists. */

import { gzipSync } from "node:zlib";
import { expect } from "vitest";
import { rule } from "../../support/emulated.ts";
import { startTested, type Tested } from "../../support/emulator.ts";
import { expectRefused } from "./refused.ts";

function start(): Promise<Tested> {
  return startTested({
    seed: {
      tokens: [{ token: "emulator-token" }, { token: "reader", grants: { images: { mine: "read_only" } } }],
      images: [
        { id: "node/debian", label: "Debian" },
        { id: "private/1", label: "mine" },
      ],
      disks: [{ id: 3, label: "boot", size: 100 }],
    },
  });
}

const capture = (body: unknown, field: string) => ({ method: "POST", path: "/images", body, field });
const upload = (body: unknown, field: string) => ({ method: "POST", path: "/images/upload", body, field });
const update = (body: unknown, field: string) => ({ method: "PUT", path: "/images/private/1", body, field });
const ASKED = { label: "new", region: "us-east" };

rule("Image: label", async () => {
  const tested = await start();
  await expectRefused(tested, upload({ region: "us-east" }, "label"));
  await expectRefused(tested, capture({ disk_id: 3, label: 5 }, "label"));
  await expectRefused(tested, update({ label: "" }, "label"));
});

rule(["Image: description", "Limits: Image description"], async () => {
  const tested = await start();
  for (const description of ["", "x".repeat(65_001)]) {
    await expectRefused(tested, upload({ ...ASKED, description }, "description"));
    await expectRefused(tested, capture({ disk_id: 3, description }, "description"));
    await expectRefused(tested, update({ description }, "description"));
  }
});

rule("Images: rule 1", async () => {
  const tested = await start();
  await expectRefused(tested, capture({ label: "no disk" }, "disk_id"));
  await expectRefused(tested, capture({ disk_id: "3" }, "disk_id"));
  await expectRefused(tested, { method: "POST", path: "/images", body: { disk_id: 4 }, field: null, status: 404 });
});

/** Sends an upload's data. @returns the status */
async function put(url: string, data: Buffer, type = "application/octet-stream"): Promise<number> {
  return (await fetch(url, { method: "PUT", body: data, headers: { "content-type": type } })).status;
}

rule(["Images: rule 2", "Limits: Upload completion window"], async () => {
  const { send, control } = await start();
  const first = (await send("POST", "/images/upload", ASKED)).body;
  const data = gzipSync("a disk");
  expect(await put(first.upload_to, Buffer.from("not gzip"))).toBe(400);
  expect(await put(first.upload_to, data, "application/gzip")).toBe(400);
  expect((await fetch(first.upload_to, { method: "POST", body: data })).status).toBe(404);
  await control("POST", "/clock", { advance_seconds: 24 * 3600 });
  expect(await put(first.upload_to, data)).toBe(404);
  expect((await send("GET", `/images/${first.image.id}`)).status).toBe(404);
  await expectRefused(await start(), upload({ label: "no region" }, "region"));
});

rule("Limits: Upload file size", async () => {
  const { send, emulator } = await start();
  const { upload_to } = (await send("POST", "/images/upload", ASKED)).body;
  const { request } = await import("node:http");
  const status = await new Promise((resolve, reject) => {
    const headers = { "content-type": "application/octet-stream", "content-length": String(5 * 1024 ** 3 + 1) };
    const { pathname, search } = new URL(upload_to);
    const sent = request({ port: emulator.port, method: "PUT", path: pathname + search, headers }, (response) => {
      resolve(response.statusCode);
      sent.destroy();
    });
    sent.on("error", reject);
    sent.flushHeaders();
  });
  expect(status).toBe(413);
});

rule("Images: rule 3", async () => {
  const tested = await start();
  const forbidden = { field: null, status: 403 };
  const headers = { authorization: "Bearer reader" };
  await expectRefused(tested, { method: "PUT", path: "/images/node/debian", body: { label: "x" }, ...forbidden });
  await expectRefused(tested, { method: "DELETE", path: "/images/node/debian", ...forbidden });
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

rule("Limits: Page splitting", async () => {
  const images = Array.from({ length: 101 }, (_, index) => ({ label: `i${index}` }));
  const tested = await startTested({ seed: { images } });
  const { body } = await tested.send("GET", "/images");
  expect([body.data.length, body.page, body.pages, body.results]).toEqual([100, 1, 2, 101]);
  await expectRefused(tested, { method: "GET", path: "/images?page_size=0", field: "page_size" });
  await expectRefused(tested, { method: "GET", path: "/images?page_size=10000", field: "page_size" });
});
