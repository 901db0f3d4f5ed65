/** Uploads by plan and apply: what is checked before anything is sent, what is not read at all, and how far an upload is. */

import { appendFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test, vi } from "vitest";
import { ApplyProgress, Meter } from "../../src/cli/progress.ts";
import type { Terminal } from "../../src/cli/terminal.ts";
import type { Emulator } from "../../src/emulator/index.ts";
import type { Plan } from "../../src/index.ts";
import { here } from "./here.ts";
import { emulator, envOf, folder } from "./run.ts";

const IMAGES = `tenon: 1
owner: edge
images:
  - { label: golden, upload: { file: golden.img.gz, region: us-east } }
  - { label: again, upload: { file: golden.img.gz, region: us-east } }
vpcs: [{ label: prod, region: us-east }]
`;
const WHOLE = gzipSync(Buffer.alloc(100_000, "disk"));

async function project(content: Buffer, manifest = IMAGES) {
  const service = await emulator();
  const cwd = await folder({ "tenon.yaml": manifest });
  writeFileSync(join(cwd, "golden.img.gz"), content);
  return { service, cwd, file: join(cwd, "golden.img.gz"), options: { cwd, env: envOf(service) } };
}

function writes({ requests }: Emulator): string[] {
  return requests.filter(({ method }) => method !== "GET").map(({ method, path }) => `${method} ${path}`);
}

describe("a file that is damaged", () => {
  const damaged = WHOLE.subarray(0, 60);

  test("is refused by plan and apply at its place, once, before anything is sent but lists", async () => {
    const { service, options } = await project(damaged);
    expect((await here(["validate"], options)).code).toBe(0);
    for (const words of [["plan"], ["apply", "--yes"]]) {
      const { code, stderr } = await here(words, options);
      expect(code).toBe(4);
      expect(stderr).toContain("error[damaged-gzip]: golden.img.gz is damaged\n  --> tenon.yaml:4:38");
      expect(stderr.match(/damaged-gzip/g)).toHaveLength(1);
      expect(stderr).toContain("1 error");
    }
    expect(writes(service)).toEqual([]);
  });

  test("is a reason of its own for programs", async () => {
    const { options } = await project(damaged);
    const { code, stdout } = await here(["apply", "--yes", "--format", "json"], options);
    const last = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "");
    expect(code).toBe(4);
    expect(last).toMatchObject({ type: "refused", reason: "file", refusals: [{ code: "damaged-gzip" }] });
  });

  test("does not keep other work from being done that a run is narrowed to", async () => {
    const { service, options } = await project(damaged);
    expect((await here(["apply", "--yes", "--target", "vpc/prod"], options)).code).toBe(0);
    expect(writes(service)).toEqual(["POST /v4/vpcs"]);
  });

  test("is of no concern to drift and destroy", async () => {
    const { options } = await project(damaged);
    expect((await here(["drift"], options)).code).toBe(2);
    expect((await here(["destroy", "--yes"], options)).code).toBe(0);
  });
});

test("a tracked file that is damaged later is refused, and never taken for unchanged", async () => {
  const tracked = IMAGES.replaceAll("upload:", "track: content, upload:");
  const { service, options, file } = await project(WHOLE, tracked);
  expect((await here(["apply", "--yes"], options)).code).toBe(0);
  const before = writes(service);
  truncateSync(file, 60);
  for (const words of [["plan"], ["drift"], ["apply", "--yes"]]) {
    const { code, stderr } = await here(words, options);
    expect({ words, code, isNamed: stderr.includes("error[damaged-gzip]") }).toEqual({ words, code: 4, isNamed: true });
  }
  expect(writes(service)).toEqual(before);
});

test("a plan that uploads nothing reads nothing of the file but its first bytes", async () => {
  const { options, file } = await project(WHOLE);
  expect((await here(["apply", "--yes"], options)).code).toBe(0);
  // Whoever read it would find it damaged.
  appendFileSync(file, "appended");
  const { code, stdout } = await here(["plan", "--detailed-exitcode"], options);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("No changes.") });
  truncateSync(file, 0);
  expect((await here(["plan"], options)).code).toBe(3);
});

test("a file that is replaced after its plan was reviewed is not uploaded", async () => {
  const { service, options, file } = await project(WHOLE);
  expect((await here(["plan", "--out", "p"], options)).code).toBe(0);
  writeFileSync(file, gzipSync("another disk"));
  expect((await here(["apply", "--yes", "--plan", "p"], options)).code).toBe(5);
  expect(writes(service)).toEqual([]);
});

test("an image that does not become available in time fails with the flag that gives it more", async () => {
  const service = await emulator({ readsUntilAvailable: { pendingUpload: 1_000, creating: 1_000 } });
  const cwd = await folder({ "tenon.yaml": IMAGES });
  writeFileSync(join(cwd, "golden.img.gz"), WHOLE);
  const options = { cwd, env: envOf(service) };
  const { code, stdout } = await here(["apply", "--yes", "--image-timeout", "1s", "--target", "image/golden"], options);
  expect(code).toBe(6);
  expect(stdout.replace(/\s+/g, " ")).toContain(
    'after 1 s, status is "pending_upload"; run again, or give it more time with --image-timeout',
  );
});

test.each(["0s", "25h", "-1", "1d", "soon", ""])(
  "--image-timeout %s is no time that an image may take",
  async (time) => {
    const { code, stderr } = await here(["apply", `--image-timeout=${time}`]);
    expect(code).toBe(1);
    expect(stderr).toContain("--image-timeout");
  },
);

describe("how far it is", () => {
  const GIBIBYTE = 1024 ** 3;

  test("is told in bytes, by rate, and in the time that is left", () => {
    let now = 5_000;
    const meter = new Meter(() => now);
    const at = (seconds: number, done: number, total = 4 * GIBIBYTE): string => {
      now = 5_000 + seconds * 1000;
      return meter.text(done, total);
    };
    expect(at(0, 0)).toBe("0.0 of 4.0 GiB");
    expect(at(0.5, GIBIBYTE / 4)).toBe("0.3 of 4.0 GiB");
    expect(at(4, GIBIBYTE)).toBe("1.0 of 4.0 GiB, 256.0 MiB/s, 12 s left");
    expect(at(1_000, GIBIBYTE)).toBe("1.0 of 4.0 GiB, 1.0 MiB/s, 50 min left");
    expect(at(100_000, 2 * GIBIBYTE)).toBe("2.0 of 4.0 GiB, 21.0 KiB/s, 28 h left");
    // It begins anew: a repeated upload, or another file.
    expect(at(100_001, 0)).toBe("0.0 of 4.0 GiB");
    expect(at(100_003, 2 * GIBIBYTE)).toBe("2.0 of 4.0 GiB, 1.0 GiB/s, 2 s left");
    expect(at(100_004, 3_000, 5_000)).toBe("2.9 of 4.9 KiB");
    expect(at(100_006, 5_000, 5_000)).toBe("4.9 of 4.9 KiB, 1000 B/s, 0 s left");
    expect(at(100_007, 1, 0)).toBe("1 of 0 B");
  });

  test("is a line every ten seconds without a terminal, and of all uploads together", () => {
    vi.useFakeTimers({ now: 0 });
    try {
      let said = "";
      const look = { colour: false, width: 80, isTerminal: false };
      const say = (text: string): void => {
        said += text;
      };
      const terminal = { environment: {}, results: look, messages: look, print: say, say } as unknown as Terminal;
      const progress = new ApplyProgress(terminal, { steps: [{}, {}, {}] } as unknown as Plan, "text");
      progress.upload("upload image/a", 0, 4 * GIBIBYTE);
      vi.advanceTimersByTime(9_999);
      expect(said).toBe("");
      progress.upload("upload image/a", GIBIBYTE, 4 * GIBIBYTE);
      vi.advanceTimersByTime(1);
      expect(said).toBe("Uploading 1.0 of 4.0 GiB, 102.4 MiB/s, 30 s left; 0 of 3 steps done (10 s)\n");
      said = "";
      progress.upload("upload image/b", GIBIBYTE, 2 * GIBIBYTE);
      vi.advanceTimersByTime(10_000);
      expect(said).toBe("Uploading 2 files: 2.0 of 6.0 GiB; 0 of 3 steps done (20 s)\n");
      said = "";
      for (const step of ["upload image/a", "upload image/b"])
        progress.report({ type: "step-done", time: "", step, changes: [], id: null, recovered: false });
      vi.advanceTimersByTime(10_000);
      expect(said).toMatch(/^Applying: 2 of 3 steps done, /);
      progress.end();
    } finally {
      vi.useRealTimers();
    }
  });
});
