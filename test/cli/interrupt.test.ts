import { describe, expect, it } from "vitest";
import type { Emulator } from "../../src/emulator/index.ts";
import { failing, oddService } from "./odd-service.ts";
import { emulator, ended, envOf, folder, PROJECT, run, start } from "./run.ts";

const RECORDS = Array.from(
  { length: 20 },
  (_, index) => `      - { type: A, name: h${index}, target: 192.0.2.1 }`,
).join("\n");
const LONG = `${PROJECT}${RECORDS}\n`;

const WAIT_MILLISECONDS = 30_000;

function posts(service: Emulator): number {
  return service.requests.filter(({ method }) => method === "POST").length;
}

describe("a signal", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)(
    "%s ends an apply in order with %i, and the next run finishes it without duplicates",
    async (signal, code) => {
      const service = await emulator({ latencyMilliseconds: 100 });
      const options = { cwd: await folder({ "tenon.yaml": LONG }), env: envOf(service) };
      const child = start(["apply", "--yes", "--concurrency", "2"], options);
      const end = ended(child);
      await expect.poll(() => posts(service), { timeout: 15_000 }).toBeGreaterThan(4);
      child.kill(signal);
      const { code: actual, stdout, stderr } = await end;
      expect(actual).toBe(code);
      expect(stdout).toContain("Apply interrupted: ");
      expect(stderr).toContain("Interrupted: finishing what is under way.");
      expect(posts(service)).toBeLessThan(20);
      const rest = await run(["apply", "--yes"], options);
      expect(rest.code).toBe(0);
      expect((await run(["plan", "--detailed-exitcode"], options)).code).toBe(0);
      const made = service.requests.filter(({ method, status }) => method === "POST" && status === 200);
      expect(made).toHaveLength(2 + 22);
    },
  );

  it("ends reading at once, with nothing done", async () => {
    const service = await oddService(() => {});
    const child = start(["plan"], { cwd: await folder({ "tenon.yaml": PROJECT }), env: envOf(service) });
    const end = ended(child);
    // The lists of VPCs, domains and images are asked for at once.
    await expect.poll(() => service.requests.length, { timeout: 15_000 }).toBe(3);
    child.kill("SIGINT");
    expect(await end).toMatchObject({ code: 130, stdout: "" });
    expect(service.requests).toHaveLength(3);
  });

  it("that comes a second time ends an apply at once", async () => {
    const behind = await emulator();
    const service = await failing(behind, (request) => (request.startsWith("POST ") ? "silence" : null));
    const child = start(["apply", "--yes"], { cwd: await folder({ "tenon.yaml": PROJECT }), env: envOf(service) });
    let told = "";
    child.stderr.on("data", (text: Buffer) => {
      told += text.toString();
    });
    const end = ended(child);
    const hasPosted = (): boolean => service.requests.some((request) => request.startsWith("POST "));
    await expect.poll(hasPosted, { timeout: 15_000 }).toBe(true);
    child.kill("SIGINT");
    await expect.poll(() => told, { timeout: WAIT_MILLISECONDS }).toContain("Interrupt again");
    child.kill("SIGINT");
    const { code, stderr } = await end;
    expect(code).toBe(130);
    // And not because the limit of the drain was over.
    expect(stderr.match(/Stopping: .*/g)).toEqual(["Stopping: aborted."]);
  });

  it("ends a look before a delete that the service does not answer, and nothing is deleted", async () => {
    const domain = { id: 1, domain: "old.example", type: "master", soa_email: "a@b.example", tags: ["tenon:me"] };
    const behind = await emulator({ seed: { domains: [domain] } as never });
    const service = await failing(behind, (request) => (request === "GET /v4/domains/1" ? "silence" : null));
    const files = { "tenon.yaml": "tenon: 1\nowner: me\nallow: [{ delete: domain/old.example }]\n" };
    const child = start(["apply", "--yes"], { cwd: await folder(files), env: envOf(service) });
    let told = "";
    child.stderr.on("data", (text: Buffer) => {
      told += text.toString();
    });
    const end = ended(child);
    const isLooking = (): boolean => service.requests.includes("GET /v4/domains/1");
    await expect.poll(isLooking, { timeout: WAIT_MILLISECONDS }).toBe(true);
    child.kill("SIGINT");
    const { code, stdout } = await end;
    expect(code).toBe(130);
    expect(stdout).toContain("Apply interrupted: ");
    // And not because the limit of the drain was over.
    expect(told).not.toContain("Stopping: ");
    expect(service.requests.filter((request) => request.startsWith("DELETE"))).toEqual([]);
  });
});
