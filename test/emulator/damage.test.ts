/** Damage to a data file: refused, set aside or said, never an account that lacks something in silence. */

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { startEmulator } from "../../src/emulator/index.ts";
import type { Tested } from "../support/emulator.ts";
import { tested } from "../support/emulator.ts";
import { seedOf, shown } from "./hostile-world.ts";

const APPENDED = 12;
const NOW = { now: () => 1_700_000_000_000 };

let whole: Buffer;
/** What is shown once so many lines of the file were read. */
const shownAfter = new Map<number, string[]>();

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "emulator-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function lineCount(bytes: Buffer): number {
  return bytes.toString("latin1").split("\n").length - 1;
}

beforeAll(async () => {
  const path = mkdtempSync(join(tmpdir(), "emulator-"));
  const data = join(path, "account.log");
  const emulator = await startEmulator({ ...NOW, data, seed: seedOf("mine", 0) });
  const run: Tested = tested(emulator);
  for (let count = 0; count <= APPENDED; count += 1) {
    shownAfter.set(lineCount(readFileSync(data)), await shown(run, "mine-token"));
    if (count < APPENDED) {
      const headers = { authorization: "Bearer mine-token" };
      await run.send("PUT", "/vpcs/1", { description: `é ${count}` }, headers);
    }
  }
  await emulator.close();
  whole = readFileSync(data);
  rmSync(path, { recursive: true });
});

interface Outcome {
  readonly kind: "refused" | "aside" | "dropped" | "whole";
}

/** Starts on the bytes, and sees that what follows is one of the outcomes there may be. */
async function open(bytes: Buffer, data: string): Promise<Outcome["kind"]> {
  writeFileSync(data, bytes);
  const emulator = await startEmulator({ ...NOW, data }).catch((error: Error) => error);
  if (emulator instanceof Error) {
    expect(emulator.message).toContain("It was left as it is");
    expect(readFileSync(data).equals(bytes)).toBe(true);
    expect(readdirSync(join(data, ".."))).toEqual(["account.log"]);
    return "refused";
  }
  try {
    const { notices } = emulator;
    const aside = notices[0]?.includes("set aside") === true;
    if (aside) {
      expect(notices[0]).toMatch(/: line \d+ is damaged( or missing)?\. It was set aside as .*\.damaged-1, /);
      expect(readFileSync(`${data}.damaged-1`).equals(bytes)).toBe(true);
      return "aside";
    }
    const dropped = notices[0]?.includes("The last line") === true;
    expect(notices).toHaveLength(dropped ? 1 : 0);
    const lines = dropped ? lineCount(bytes) : lineCount(whole);
    expect(await shown(tested(emulator), "mine-token")).toEqual(shownAfter.get(lines));
    return dropped ? "dropped" : "whole";
  } finally {
    await emulator.close();
  }
}

/** Bytes to change a file by; the same ones each time (a linear congruence). */
function damages(): [string, Buffer][] {
  let state = 20_261_121;
  const below = (limit: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * limit);
  };
  return Array.from({ length: 210 }, (_, index) => {
    const at = below(whole.length);
    if (index % 3 === 0) {
      const flipped = Buffer.from(whole);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << below(8));
      return [`bit flipped at ${at}`, flipped];
    }
    // At the very end of an appended line there is nothing to be seen: see below.
    const end = whole[at - 1] === 10 ? at + 1 : at;
    if (index % 3 === 1) return [`cut at ${end}`, whole.subarray(0, end)];
    return [`byte at ${at}`, Buffer.concat([whole.subarray(0, at), Buffer.from([below(256)]), whole.subarray(at)])];
  });
}

test("a byte changed, added or cut off anywhere is refused, set aside or said", async () => {
  const parent = folder();
  const seen = new Set<string>();
  for (const [index, [name, bytes]] of damages().entries()) {
    const own = join(parent, String(index));
    mkdirSync(own);
    const kind = await open(bytes, join(own, "account.log"));
    // Without a word, only what means the same.
    if (kind === "whole") expect(name).toMatch(/^byte/);
    seen.add(kind);
  }
  expect([...seen]).toEqual(expect.arrayContaining(["refused", "aside", "dropped"]));
});

test("a line that is missing, is there twice or has moved is damage", async () => {
  const lines = whole.toString("utf8").split("\n").slice(0, -1);
  const last = lines.length - 1;
  const changed: string[][] = [
    lines.toSpliced(last - 3, 1),
    lines.toSpliced(1, 1),
    lines.toSpliced(last - 3, 0, lines[last - 3] ?? ""),
    lines.toSpliced(last - 3, 2, lines[last - 2] ?? "", lines[last - 3] ?? ""),
    lines.slice(0, 1),
    lines.slice(0, 2),
  ];
  for (const some of changed)
    expect(await open(Buffer.from(`${some.join("\n")}\n`), join(folder(), "account.log"))).toBe("aside");
});

test("an empty file is a new account, and said to be", async () => {
  const data = join(folder(), "account.log");
  writeFileSync(data, "");
  const emulator = await startEmulator({ data });
  onTestFinished(() => emulator.close());
  expect(emulator.notices).toEqual([`${data} was empty: the account begins anew.`]);
});
