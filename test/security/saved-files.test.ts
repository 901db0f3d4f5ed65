/** Links in the place of what Tenon has saved: a plan, a snapshot, a journal. Who commits one chooses which file is taken for what was reviewed. */

import { cp, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { here } from "../cli/here.ts";
import { emulator, envOf, folder } from "../cli/run.ts";
import { link } from "./hostile.ts";

const MANIFEST = "tenon: 1\nvpcs: [{ label: prod, region: us-east }]\n";
const FLEET = "fleet: 1\naccounts:\n  - { name: a1, project: ., token: { env: TENON_TOKEN }, base_url: URL }\n";

test("a reviewed plan, a snapshot and a journal are read through no link that leads out of the checkout, or into a folder of Tenon", async () => {
  const service = await emulator();
  const elsewhere = await folder({});
  const cwd = await folder({ "tenon.yaml": MANIFEST, "fleet.yaml": FLEET.replace("URL", service.baseUrl) });
  const go = (...args: string[]) => here(args, { cwd, env: envOf(service) });
  const saved = (name: string) => join(elsewhere, name);
  expect((await go("plan", "--out", saved("a1.plan"))).code).toBe(0);
  expect((await go("live", "--out", saved("live.json"))).code).toBe(0);
  expect((await go("apply", "--yes", "--journal", saved("run.jsonl"))).code).toBe(0);
  expect((await go("destroy", "--yes")).code).toBe(0);
  const sent = service.requests.length;
  await mkdir(join(cwd, ".tenon/kept"), { recursive: true });
  for (const target of [elsewhere, join(cwd, ".tenon/kept")]) {
    if (target !== elsewhere) await cp(elsewhere, target, { recursive: true });
    await link(cwd, "plans", target);
    for (const name of ["a1.plan", "live.json", "run.jsonl"]) await link(cwd, name, join(target, name));
    for (const args of [
      ["apply", "--yes", "--plan", "a1.plan"],
      ["apply", "--yes", "--plan", "plans/a1.plan"],
      ["show", "plans/a1.plan"],
      ["plan", "--live", "live.json"],
      ["undo", "run.jsonl"],
      ["fleet", "apply", "--yes", "--plan", "plans"],
    ]) {
      const { code, stdout, stderr } = await go(...args);
      expect([args, code, stdout + stderr]).toEqual([
        args,
        1,
        expect.stringMatching(/leads (?:out|into)[\s\S]* by a symbolic link/),
      ]);
    }
    for (const name of ["plans", "a1.plan", "live.json", "run.jsonl"]) await rm(join(cwd, name));
  }
  expect(service.requests.slice(sent).filter(({ method }) => method !== "GET")).toEqual([]);
  // The place itself may be named, wherever it is, and links that stay in the checkout are the project's own.
  await cp(saved("a1.plan"), join(cwd, "own.plan"));
  await link(cwd, "a1.plan", "own.plan");
  expect((await go("show", saved("a1.plan"))).code).toBe(0);
  expect((await go("apply", "--yes", "--plan", "a1.plan")).code).toBe(0);
});

test("what a ticket sends is read through no link that leads out of the checkout, or into a folder of git", async () => {
  const service = await emulator({ seed: { tickets: [{ id: 7, summary: "s", description: "d" }] } as never });
  const elsewhere = await folder({ "secret.txt": "SECRET", "run.jsonl": '{"type":"report","changes":[]}\n' });
  const cwd = await folder({ ".git/config.txt": "AUTHORIZATION: SECRET", "own.txt": "mine" });
  await link(cwd, "note.txt", join(elsewhere, "secret.txt"));
  await link(cwd, "config.txt", join(cwd, ".git/config.txt"));
  await link(cwd, "run.jsonl", join(elsewhere, "run.jsonl"));
  await link(cwd, "docs", elsewhere);
  const go = (...args: string[]) => here(["ticket", ...args], { cwd, env: envOf(service) });
  for (const args of [
    ["open", "--file", "note.txt"],
    ["open", "--file", "config.txt"],
    ["reply", "7", "--file", "docs/secret.txt"],
    ["open", "--draft", "run.jsonl"],
    ["draft", "run.jsonl"],
    ["attach", "7", "docs/secret.txt"],
  ]) {
    const { code, stdout, stderr } = await go(...args);
    expect([args, code, stdout + stderr]).toEqual([
      args,
      1,
      expect.stringMatching(/leads\s+(?:out|into)[\s\S]*by\s+a\s+symbolic\s+link/),
    ]);
  }
  expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  await link(cwd, "linked.txt", "own.txt");
  expect((await go("open", "--summary", "mine", "--file", "linked.txt")).code).toBe(0);
});
