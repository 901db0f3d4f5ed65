/** What only a person at a terminal meets. Needs script (util-linux), for the terminal. */

import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { Emulator, Seed } from "../../src/emulator/index.ts";
import { emulator, envOf, folder, MAIN, PROJECT } from "../cli/run.ts";

function posts(service: Emulator): number {
  return service.requests.filter(({ method }) => method === "POST").length;
}

async function post(service: Emulator, path: string, body: object): Promise<void> {
  const headers = { authorization: "Bearer emulator-token", "content-type": "application/json" };
  const answer = await fetch(`${service.baseUrl}/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  expect(answer.status).toBe(200);
}

/** The lines of the journal so far. */
async function journalled(file: string): Promise<{ type: string; interrupted?: boolean }[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
}

describe("a terminal that is closed", () => {
  it("lets an apply finish what is in flight, although nobody reads what it says", async () => {
    const service = await emulator({ latencyMilliseconds: 150 });
    const names = Array.from({ length: 60 }, (_, index) => `{ type: A, name: n${index}, target: 192.0.2.1 }`);
    const records = `records: [${names.join(", ")}]`;
    const domain = `{ domain: a.example, type: master, soa_email: a@a.example, ${records} }`;
    const cwd = await folder({ "tenon.yaml": `tenon: 1\ndomains: [${domain}]\n` });
    const env = { ...envOf(service), PATH: process.env["PATH"], TERM: "xterm" };
    const command = `${process.execPath} ${MAIN} apply --yes --concurrency 2 --journal run.jsonl`;
    const child = spawn("script", ["--quiet", "--command", command, "/dev/null"], { cwd, env, stdio: "pipe" });
    await expect.poll(() => posts(service), { timeout: 30_000 }).toBeGreaterThan(4);
    child.kill("SIGKILL");
    const lastLine = async () => (await journalled(join(cwd, "run.jsonl"))).at(-1);
    await expect.poll(lastLine, { timeout: 20_000 }).toMatchObject({ type: "end", interrupted: true });
    expect(posts(service)).toBeLessThan(60);
    const journal = await journalled(join(cwd, "run.jsonl"));
    const count = (type: string) => journal.filter((line) => line.type === type).length;
    expect(count("outcome")).toBeGreaterThanOrEqual(count("intent"));
  });
});

describe("a person at a terminal", () => {
  /** @param meanwhile awaited while the question stands; told the folder of the project */
  async function answer(
    text: string,
    meanwhile: (service: Emulator, cwd: string) => Promise<void> = async () => {},
    {
      seed,
      manifest = PROJECT,
      files = {},
    }: { readonly seed?: Seed; readonly manifest?: string; readonly files?: Readonly<Record<string, Buffer>> } = {},
  ): Promise<{ code: number | null; output: string; writes: number }> {
    const service = await emulator(seed === undefined ? {} : { seed });
    const cwd = await folder({ "tenon.yaml": manifest });
    for (const [file, content] of Object.entries(files)) await writeFile(join(cwd, file), content);
    const env = { ...envOf(service), PATH: process.env["PATH"], TERM: "xterm" };
    const command = `${process.execPath} ${MAIN} apply`;
    const child = spawn("script", ["--quiet", "--return", "--command", command, "/dev/null"], { cwd, env });
    let output = "";
    child.stdout.on("data", (data: Buffer) => {
      output += data.toString();
      if (output.includes('Only "yes" is accepted: ') && text !== "") {
        const answered = text;
        text = "";
        meanwhile(service, cwd).then(() => child.stdin.write(answered));
      }
    });
    const code = await new Promise<number | null>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", resolve);
    });
    return { code, output, writes: posts(service) };
  }

  it("is shown the plan in colour and asked, and yes means yes", async () => {
    const { code, output, writes } = await answer("yes\r");
    expect(output).toContain("\u001b[32m+\u001b[39m");
    expect(output).toContain("Apply complete!");
    expect({ code, wrote: writes > 0 }).toEqual({ code: 0, wrote: true });
  });

  describe("who answers after the account has changed", () => {
    /** Longer than a plan waits without being made anew. */
    const LATE_MILLISECONDS = 11_000;

    it("gets what is left of the plan, if others have done some of it", { timeout: 60_000 }, async () => {
      const { code, output, writes } = await answer("yes\r", async (service) => {
        const subnets = [{ label: "web", ipv4: "10.0.1.0/24" }];
        await post(service, "vpcs", { label: "prod", region: "us-east", description: "[tenon:edge]", subnets });
        await delay(LATE_MILLISECONDS);
      });
      expect(output).toContain("Apply complete!");
      expect({ code, wrote: writes > 1 }).toEqual({ code: 0, wrote: true });
    });

    it("gets nothing done that was not shown", { timeout: 60_000 }, async () => {
      const { code, output, writes } = await answer("yes\r", async (service) => {
        await post(service, "domains", { domain: "example.com", type: "slave", master_ips: ["192.0.2.1"] });
        await delay(LATE_MILLISECONDS);
      });
      expect(output).toContain("The account has changed since the plan was shown.");
      expect(output).toContain("nothing was done");
      expect({ code, writes }).toEqual({ code: 5, writes: 1 });
    });

    it("gets no change that was shown as blocked and is free now", { timeout: 60_000 }, async () => {
      const attached: Seed = {
        vpcs: [{ label: "old", region: "us-east", subnets: [{ label: "a", ipv4: "10.0.0.0/24" }] }],
        nodes: [{ id: 123, interfaces: [{ id: 456, subnet: "old/a", active: true }] }],
      };
      const manifest = "tenon: 1\nremoved: [{ vpc: old }]\nvpcs: [{ label: new, region: us-east }]\n";
      const detach = async (service: Emulator) => {
        await service.detach(456);
        await delay(LATE_MILLISECONDS);
      };
      const { code, output, writes } = await answer("yes\r", detach, { seed: attached, manifest });
      expect(output).toContain("(blocked)");
      expect(output).toContain("this plan is not within the reviewed one");
      expect({ code, writes }).toEqual({ code: 5, writes: 0 });
    });
  });

  describe("who answers after the file of an image has changed", () => {
    const manifest = "tenon: 1\nimages:\n  - { label: golden, upload: { file: golden.img.gz, region: us-east } }\n";
    const files = { "golden.img.gz": gzipSync("a disk") };
    const rewrite = (content: Buffer) => (_: Emulator, cwd: string) => writeFile(join(cwd, "golden.img.gz"), content);

    it("gets nothing done if it holds something else, or nothing whole", async () => {
      for (const [content, words] of [
        [gzipSync("another disk"), "A file to upload has changed since the plan was shown."],
        [gzipSync("another disk").subarray(0, 15), "golden.img.gz is damaged"],
      ] as const) {
        const { code, output, writes } = await answer("yes\r", rewrite(content), { manifest, files });
        expect(output).toContain(words);
        expect({ code: code === 4 || code === 5, writes }).toEqual({ code: true, writes: 0 });
      }
    });

    it("gets the image if it holds the same again", async () => {
      const { code, output } = await answer("yes\r", rewrite(files["golden.img.gz"]), { manifest, files });
      expect(output).toContain("Apply complete!");
      expect(code).toBe(0);
    });
  });

  it("who answers anything else, or Ctrl-C, gets nothing done", async () => {
    const no = await answer("y\r");
    expect(no).toMatchObject({ code: 1, writes: 0, output: expect.stringContaining("Nothing was done.") });
    expect(await answer("\u0003")).toMatchObject({ code: 130, writes: 0 });
  });
});
