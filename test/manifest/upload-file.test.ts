/** Files to upload: what is refused by its first bytes, what only by all of them, and what a file may do while it is read. */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, renameSync, statSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { UploadFiles } from "../../src/index.ts";
import { codes, folder, load } from "./support.ts";

const IMAGE = Buffer.from("a raw disk image".repeat(100_000));
const WHOLE = gzipSync(IMAGE);

function upload(file: string): string {
  return `tenon: 1\nimages:\n  - { label: golden, upload: { region: us-east, file: ${JSON.stringify(file)} } }\n`;
}

/** What `validate` says of a file. */
async function validated(file: string, content: Buffer) {
  const [found] = (await load(folder({ "tenon.yaml": upload(file), [file]: content }))).diagnostics;
  return found;
}

/** What a plan says of a file that it would upload. */
async function checked(content: Buffer, file = "golden.img.gz") {
  const files = new UploadFiles(folder({ [file]: content }));
  const found = await files.contentOf(file);
  return found ?? files.problemOf(file);
}

function padded(at: number, text: string): Buffer {
  return Buffer.concat([Buffer.alloc(at), Buffer.from(text, "latin1"), Buffer.alloc(600)]);
}

describe("by its first bytes", () => {
  test.each<[string, string, Buffer, string, string]>([
    ["raw", "golden.img", padded(0, "\0\0"), "does not begin as gzip does", "gzip --keep golden.img"],
    ["xz", "a/golden.img.xz", padded(0, "\xfd7zXZ\0"), "as xz does", "xz -dc a/golden.img.xz | gzip > a/golden.img.gz"],
    ["zstd", "g.img.zst", padded(0, "\x28\xb5\x2f\xfd"), "as zstd does", "zstd -dc g.img.zst | gzip > g.img.gz"],
    ["bzip2", "g.img.bz2", padded(0, "BZh9"), "as bzip2 does", "bzip2 -dc g.img.bz2 | gzip > g.img.gz"],
    [
      ...(["qcow2", "g.qcow2", padded(0, "QFI\xfb"), "as qcow2 does"] as const),
      "qemu-img convert -O raw g.qcow2 g.img && gzip g.img",
    ],
    ["vmdk", "g.vmdk", padded(0, "KDMV"), "as vmdk does", "qemu-img convert -O raw g.vmdk g.img && gzip g.img"],
    ["vdi", "g.vdi", padded(0x40, "\x7f\x10\xda\xbe"), "as vdi does", "qemu-img convert -O raw g.vdi g.img"],
    ["zip", "g.zip", padded(0, "PK\x03\x04"), "as zip does", "unzip -p g.zip | gzip > g.img.gz"],
    ["tar", "g.tar", padded(257, "ustar"), "as tar does", "Take the disk image out of the tar archive"],
    // What is called gzip and is not must not be overwritten by the command.
    ["xz", "g.img.gz", padded(0, "\xfd7zXZ\0"), "as xz does", "xz -dc g.img.gz | gzip > g-raw.img.gz"],
    ["xz", "-x $(id)'.xz", padded(0, "\xfd7zXZ\0"), "as xz does", `xz -dc './-x $(id)'"'"'.xz' | gzip`],
  ])("%s is refused, with the command that makes it gzip: %s", async (_, file, content, detail, fix) => {
    const found = await validated(file, content);
    expect(found).toMatchObject({ code: "not-gzip", severity: "error", summary: `${file} is not gzip` });
    expect(found?.detail).toContain(detail);
    expect(found?.fix).toContain(fix);
    expect(found?.span).toMatchObject({ file: "tenon.yaml" });
  });

  test("an empty file, a folder, a named pipe and a link that leads out are refused", async () => {
    expect(await validated("e.img.gz", Buffer.alloc(0))).toMatchObject({
      code: "not-gzip",
      summary: "e.img.gz is empty",
    });
    const root = folder({ "d/x": "", "out.gz": WHOLE, "p/tenon.yaml": upload("pipe") });
    execFileSync("mkfifo", [join(root, "p/pipe")]);
    expect(codes(await load(join(root, "p")))).toEqual(["unreadable-file"]);
    const files = new UploadFiles(join(root, "p"));
    symlinkSync(join(root, "out.gz"), join(root, "p/link.gz"));
    for (const [file, code] of [
      ["pipe", "unreadable-file"],
      [".", "unreadable-file"],
      ["link.gz", "outside-project"],
      ["none.gz", "file-not-found"],
    ] as const) {
      expect(await files.contentOf(file)).toBeNull();
      expect(files.problemOf(file)?.code).toBe(code);
    }
  });

  test("what only all of its bytes tell is left to the plan", async () => {
    expect(await validated("g.img.gz", WHOLE.subarray(0, 100))).toBeUndefined();
  });
});

describe("by all of its bytes", () => {
  test("a whole file has its size and SHA-256", async () => {
    expect(await checked(WHOLE)).toEqual({
      bytes: WHOLE.length,
      sha256: createHash("sha256").update(WHOLE).digest("hex"),
    });
  });

  test("members that follow one another are one file, wherever they meet", async () => {
    // The first member ends just before, at, and just after the end of what is read at once.
    for (const over of [-1, 0, 1, 5]) {
      const first = gzipOfLength(1024 * 1024 + over);
      expect(await checked(Buffer.concat([first, WHOLE, first])), String(over)).toMatchObject({
        bytes: 2 * first.length + WHOLE.length,
      });
    }
  });

  test.each<[string, Buffer, string]>([
    ["cut off in its data", WHOLE.subarray(0, WHOLE.length - 20), "it was cut off"],
    ["cut off in its end", WHOLE.subarray(0, WHOLE.length - 2), "it was cut off"],
    ["cut off after its first bytes", WHOLE.subarray(0, 2), "it was cut off"],
    ["cut off in its second member", Buffer.concat([WHOLE, WHOLE.subarray(0, 30)]), "it was cut off"],
    ["with another checksum", flipped(WHOLE, WHOLE.length - 6), "checksum (CRC-32)"],
    ["with another length", flipped(WHOLE, WHOLE.length - 2), "not as long as it says"],
    ["with another method", flipped(WHOLE, 2), "cannot be decompressed"],
    ["with an error in its data", flipped(WHOLE, 12), "cannot be decompressed"],
    ["with a word behind it", Buffer.concat([WHOLE, Buffer.from("appended")]), "bytes that are no gzip"],
    ["with zeros behind it", Buffer.concat([WHOLE, Buffer.alloc(10)]), "bytes that are no gzip"],
    ["with many zeros behind it", Buffer.concat([WHOLE, Buffer.alloc(3_000_000)]), "bytes that are no gzip"],
  ])("a file is refused %s", async (_, content, detail) => {
    const found = await checked(content);
    expect(found).toMatchObject({ code: "damaged-gzip", severity: "error", detail: expect.stringContaining(detail) });
  });

  test.each<[string, Buffer, string]>([
    ["nothing", Buffer.alloc(0), "Make the image anew"],
    ["qcow2", padded(0, "QFI\xfb"), "gzip -dc golden.img.gz > golden.qcow2 && qemu-img convert -O raw golden.qcow2"],
    ["xz", padded(0, "\xfd7zXZ\0"), "gzip -dc golden.img.gz | xz -dc | gzip > golden-raw.img.gz"],
    ["gzip", WHOLE, "gzip -dc golden.img.gz | gzip -dc | gzip > golden-raw.img.gz"],
    ["tar", padded(257, "ustar"), "Take the disk image out of the tar archive"],
  ])("a file that holds %s is refused, with what makes it a raw image", async (_, inner, fix) => {
    expect(await checked(gzipSync(inner))).toMatchObject({ code: "not-raw", fix: expect.stringContaining(fix) });
  });

  test("a file that holds more than an image may is refused once that is known", async () => {
    const root = folder({ "bomb.gz": gzipSync(Buffer.alloc(256 * 1024 * 1024)) });
    const limit = 1024 * 1024;
    const seen: number[] = [];
    const files = new UploadFiles(root, limit);
    expect(await files.contentOf("bomb.gz", { progress: (_, done) => seen.push(done) })).toBeNull();
    expect(files.problemOf("bomb.gz")).toMatchObject({ code: "file-too-large" });
    expect(await new UploadFiles(root, 256 * limit).contentOf("bomb.gz")).not.toBeNull();
  });

  test("tells how far it is, to the end", async () => {
    const content = gzipSync(IMAGE, { level: 0 });
    const seen: string[] = [];
    const files = new UploadFiles(folder({ "g.gz": content }));
    await files.contentOf("g.gz", { progress: (file, done, total) => seen.push(`${file} ${done}/${total}`) });
    expect(seen).toEqual([`g.gz 1048576/${content.length}`, `g.gz ${content.length}/${content.length}`]);
  });

  test("ends when it is interrupted, and is not remembered", async () => {
    const files = new UploadFiles(folder({ "g.gz": gzipSync(IMAGE, { level: 0 }) }));
    const controller = new AbortController();
    const watch = { signal: controller.signal, progress: () => controller.abort() };
    expect(await files.contentOf("g.gz", watch)).toBeNull();
    expect(files.problemOf("g.gz")).toBeNull();
    expect(await files.contentOf("g.gz")).not.toBeNull();
  });
});

describe("while it changes", () => {
  test.each<[string, (path: string) => void]>([
    ["grows", (path) => appendFileSync(path, WHOLE)],
    ["shrinks", (path) => truncateSync(path, 1_100_000)],
    ["is rewritten at the same size", (path) => writeFileSync(path, Buffer.alloc(statSync(path).size), { flag: "r+" })],
    ["is touched", (path) => utimesSync(path, 1, 1)],
  ])("a file that %s while it is read is refused", async (_, change) => {
    const root = folder({ "g.gz": gzipSync(Buffer.concat([IMAGE, IMAGE, IMAGE]), { level: 0 }) });
    const files = new UploadFiles(root);
    let isChanged = false;
    const progress = (): void => {
      if (!isChanged) change(join(root, "g.gz"));
      isChanged = true;
    };
    expect(await files.contentOf("g.gz", { progress })).toBeNull();
    expect(files.problemOf("g.gz")?.code).toMatch(/^(file-changed|damaged-gzip)$/);
  });

  test("a file is read once as long as it stays, whatever its names, and again when it does not", async () => {
    const root = folder({ "a.gz": WHOLE });
    symlinkSync("a.gz", join(root, "link"));
    const files = new UploadFiles(root);
    const reads: string[] = [];
    const contentOf = (file: string) => files.contentOf(file, { progress: (name) => reads.push(name) });
    const first = await contentOf("a.gz");
    expect(await contentOf("link")).toEqual(first);
    expect(await contentOf("a.gz")).toEqual(first);
    expect(reads).toEqual(["a.gz"]);
    expect(await files.areUnchanged()).toBe(true);
    const other = gzipSync("another image");
    writeFileSync(join(root, "new.gz"), other);
    renameSync(join(root, "new.gz"), join(root, "a.gz"));
    expect(await files.areUnchanged()).toBe(false);
    expect(await contentOf("link")).toMatchObject({ bytes: other.length });
    expect(reads).toEqual(["a.gz", "link"]);
    expect(await files.areUnchanged()).toBe(true);
  });

  test("a problem is named by each of the file's names, and goes with it", async () => {
    const root = folder({ "a.gz": WHOLE.subarray(0, 100) });
    symlinkSync("a.gz", join(root, "link.gz"));
    const files = new UploadFiles(root);
    for (const file of ["a.gz", "link.gz"]) {
      expect(await files.contentOf(file)).toBeNull();
      expect(files.problemOf(file)?.summary).toBe(`${file} is damaged`);
    }
    writeFileSync(join(root, "a.gz"), WHOLE);
    expect(await files.contentOf("a.gz")).not.toBeNull();
    expect(files.problemOf("a.gz")).toBeNull();
  });
});

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 0xff;
  return copy;
}

/** A gzip file of just so many bytes: stored blocks of zeros, of which the last has what is missing. */
function gzipOfLength(length: number): Buffer {
  for (let inner = length - 200; inner < length; inner += 1) {
    const made = gzipSync(Buffer.alloc(inner), { level: 0 });
    if (made.length === length) return made;
  }
  throw new Error(`there is no gzip of ${length} bytes`);
}
