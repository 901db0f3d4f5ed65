/** Captures of disks: the old images go when the new one is available, and stay where there is none. */

import { expect, test } from "vitest";
import type { Emulator, EmulatorOptions } from "../../src/emulator/index.ts";
import { emulator, ended, envOf, folder, run, start } from "./run.ts";

/** Last month's image is no longer declared, and another one is to be removed by name. */
const MANIFEST = `tenon: 1
owner: edge
images: [{ label: base-2, capture: { disk_id: 7 } }]
removed: [{ image: by-hand }]
allow: [{ delete: image/base-1 }]
`;
const SEED = {
  images: [
    { id: "private/1", label: "base-1", description: "[tenon:edge]" },
    { id: "private/2", label: "by-hand" },
  ],
};
const DISK = { id: 7, label: "boot", size: 1024 };
const OLD = ["base-1", "by-hand"];
/** More reads than a run of a test makes. */
const NEVER = { creating: 1_000, pendingUpload: 1_000 };

async function opened(options: EmulatorOptions) {
  const service = await emulator({ seed: SEED, ...options });
  const cwd = await folder({ "tenon.yaml": MANIFEST });
  return { service, options: { cwd, env: envOf(service) } };
}

async function ask(service: Emulator, path: string, body?: object) {
  const headers = {
    authorization: "Bearer emulator-token",
    "content-type": "application/json",
    "x-tenon-emulator": "1",
  };
  const answer = await fetch(new URL(path, service.baseUrl), {
    headers,
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as { data: { label: string; status: string }[] };
}

async function images(service: Emulator): Promise<string[]> {
  const { data } = await ask(service, "/v4/images");
  return data.map(({ label }) => label).sort();
}

function deletes(service: Emulator): string[] {
  return service.requests.filter(({ method }) => method === "DELETE").map(({ path }) => path);
}

test("a disk that is gone fails before anything is deleted, and once there is one the same run goes through", async () => {
  const { service, options } = await opened({});
  const failed = await run(["apply", "--yes"], options);
  expect(failed.code).toBe(6);
  expect(failed.stdout).toContain("404");
  expect(deletes(service)).toEqual([]);
  expect(await images(service)).toEqual(OLD);
  await ask(service, "/_emulator/disks", DISK);
  expect((await run(["apply", "--yes"], options)).code).toBe(0);
  expect(await images(service)).toEqual(["base-2"]);
});

test("no old image is deleted before the new one was seen available", async () => {
  const { service, options } = await opened({ seed: { ...SEED, disks: [DISK] } });
  expect((await run(["apply", "--yes"], options)).code).toBe(0);
  const requests = service.requests.map(({ method, path }) => `${method} ${path}`);
  const post = requests.indexOf("POST /v4/images");
  const first = requests.findIndex((request) => request.startsWith("DELETE"));
  const looks = requests.slice(post, first).filter((request) => request.startsWith("GET /v4/images/private"));
  // It is shown once as it is being made, and then as available; and each of the others as it is just before it goes.
  const [made] = looks;
  expect(looks.filter((look) => look === made)).toHaveLength(2);
  expect(looks).toHaveLength(4);
  expect(deletes(service)).toHaveLength(2);
});

test("a capture that is not available in time deletes nothing, and the next run waits for the same image", async () => {
  const { service, options } = await opened({ seed: { ...SEED, disks: [DISK] }, readsUntilAvailable: NEVER });
  for (const _ of ["first", "second"]) {
    const { code, stderr } = await run(["apply", "--yes", "--image-timeout", "1s"], options);
    expect(code).toBe(6);
    expect(stderr.replace(/\s+/g, " ")).toContain('after 1 s, status is "creating"; run again, or');
    expect(deletes(service)).toEqual([]);
    expect(await images(service)).toEqual([OLD[0], "base-2", OLD[1]]);
  }
});

test("an apply that is killed while it waits is made good by the next one, which captures nothing again", async () => {
  const { service, options } = await opened({
    ...{ seed: { ...SEED, disks: [DISK] }, readsUntilAvailable: { creating: 6, pendingUpload: 6 } },
  });
  const child = start(["apply", "--yes"], options);
  const end = ended(child);
  const isWaiting = () =>
    service.requests.some(({ method, path }) => method === "GET" && /\/images\/private/.test(path));
  await expect.poll(isWaiting, { timeout: 30_000 }).toBe(true);
  child.kill("SIGKILL");
  await end;
  expect(deletes(service)).toEqual([]);
  expect((await run(["apply", "--yes"], options)).code).toBe(0);
  expect(service.requests.filter(({ method }) => method === "POST")).toHaveLength(1);
  expect(await images(service)).toEqual(["base-2"]);
  expect((await run(["plan", "--detailed-exitcode"], options)).code).toBe(0);
});
