/** How your own code that speaks to the cloud's API is tested: against an emulator that starts in milliseconds. */

import { type Emulator, type Seed, startEmulator } from "tenon/emulator";
import { afterEach, beforeEach, expect, test } from "vitest";

const seed: Seed = {
  domains: [{ id: 5, domain: "example.com", records: [{ type: "A", name: "www", target: "192.0.2.10" }] }],
};

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ seed });
});
afterEach(() => emulator.close());

/** Stands for your own code. */
async function pointElsewhere(baseUrl: string, domainId: number, target: string): Promise<boolean> {
  const headers = { authorization: "Bearer emulator-token", "content-type": "application/json" };
  const records = `${baseUrl}/domains/${domainId}/records`;
  const { data } = (await (await fetch(records, { headers })).json()) as { data: [{ id: number }] };
  const body = JSON.stringify({ target });
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const answer = await fetch(`${records}/${data[0].id}`, { method: "PUT", headers, body });
    if (answer.status !== 503) return answer.ok;
  }
  return false;
}

test("the record points elsewhere", async () => {
  expect(await pointElsewhere(emulator.baseUrl, 5, "192.0.2.20")).toBe(true);
  expect(emulator.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "GET /v4/domains/5/records",
    expect.stringMatching(/^PUT \/v4\/domains\/5\/records\/\d+$/),
  ]);
});

test("what the service refuses is refused here", async () => {
  expect(await pointElsewhere(emulator.baseUrl, 5, "no address")).toBe(false);
});

test("a service that fails twice is asked a third time", async () => {
  emulator.setFaults([{ effect: { type: "status", status: 503 }, method: "PUT", times: 2 }]);
  expect(await pointElsewhere(emulator.baseUrl, 5, "192.0.2.20")).toBe(true);
  expect(emulator.requests.filter(({ method }) => method === "PUT").map(({ status }) => status)).toEqual([
    503, 503, 200,
  ]);
});
