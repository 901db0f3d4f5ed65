/** Commands that were killed, interrupted, or lost an answer, as real processes: run again, they come to the same end, once. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Emulator } from "../../src/emulator/index.ts";
import { emulator, ended, envOf, folder, run, start } from "../cli/run.ts";
import { faults } from "../cli/stage.ts";
import { tested } from "../support/emulator.ts";

const SEED = { tickets: [{ id: 7, summary: "No answer", description: "x" }] };

const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  open: ["ticket", "open", "--summary", "Late", "--description", "日本語"],
  reply: ["ticket", "reply", "7", "--description", "Any news?"],
  attach: ["ticket", "attach", "7", "a.txt", "b.txt", "c.txt"],
  close: ["ticket", "close", "7"],
};

interface State {
  readonly tickets: number;
  readonly replies: number;
  readonly attachments: readonly string[];
  readonly isClosed: boolean;
}

const BEFORE: State = { tickets: 1, replies: 0, attachments: [], isClosed: false };
const AFTER: Readonly<Record<string, State>> = {
  open: { ...BEFORE, tickets: 2 },
  reply: { ...BEFORE, replies: 1 },
  attach: { ...BEFORE, attachments: ["a.txt", "b.txt", "c.txt"] },
  close: { ...BEFORE, isClosed: true },
};

async function stateOf(service: Emulator): Promise<State> {
  const { send } = tested(service);
  const ticket = (await send("GET", "/support/tickets/7")).body;
  return {
    tickets: (await send("GET", "/support/tickets")).body.results,
    replies: (await send("GET", "/support/tickets/7/replies")).body.results,
    attachments: ticket.attachments,
    isClosed: ticket.status === "closed",
  };
}

async function world(...specs: readonly string[]) {
  const service = await emulator({ seed: SEED, ...faults(...specs) });
  const cwd = await folder({ "a.txt": "a", "c.txt": "c" });
  await writeFile(join(cwd, "b.txt"), "b".repeat(2_000_000));
  return { service, options: { cwd, env: envOf(service) } };
}

const postsOf = ({ requests }: Emulator) => requests.filter(({ method }) => method === "POST").length;

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10));
}

test.each(Object.entries(COMMANDS))(
  "%s that is killed while its answer is awaited is done once when it is run again",
  async (name, args) => {
    // Of the files the second is on its way.
    const nth = name === "attach" ? 2 : 1;
    const { service, options } = await world(`slow-headers=60000,method=POST,nth=${nth}`);
    const child = start(args, options);
    const end = ended(child);
    const expected = name === "attach" ? { ...BEFORE, attachments: ["a.txt", "b.txt"] } : AFTER[name];
    await until(async () => JSON.stringify(await stateOf(service)) === JSON.stringify(expected));
    child.kill("SIGKILL");
    expect((await end).code).toBeNull();
    const again = await run(args, options);
    expect({ code: again.code, stderr: again.stderr }).toEqual({ code: 0, stderr: "" });
    expect(await stateOf(service)).toEqual(AFTER[name]);
    expect(postsOf(service)).toBe(name === "attach" ? 3 : 1);
  },
);

test("an attachment that is killed while it is sent is not there, and is sent when it is run again", async () => {
  const { service, options } = await world("drop=before,method=POST,nth=2");
  const child = start(COMMANDS["attach"] ?? [], options);
  const end = ended(child);
  await until(() => postsOf(service) === 2);
  child.kill("SIGKILL");
  await end;
  expect(await stateOf(service)).toEqual({ ...BEFORE, attachments: ["a.txt"] });
  expect((await run(COMMANDS["attach"] ?? [], options)).code).toBe(0);
  expect(await stateOf(service)).toEqual(AFTER["attach"]);
});

test.each(Object.entries(COMMANDS))(
  "%s whose answer is lost says what it does, and is done once",
  async (name, args) => {
    const { service, options } = await world("drop=after,method=POST,nth=1");
    const { code, stderr } = await run(args, options);
    expect({ code, stderr }).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/was lost .*; looking whether it happened\n$/),
    });
    expect(await stateOf(service)).toEqual(AFTER[name]);
  },
);

test("a request that had no effect is sent once more, after two looks", async () => {
  const { service, options } = await world("drop=before,method=POST,nth=1");
  const { code, stderr } = await run(COMMANDS["open"] ?? [], options);
  expect({ code, stderr }).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("\nit had not happened and is sent once more\n"),
  });
  expect(await stateOf(service)).toEqual(AFTER["open"]);
});

test("what became of a request that nobody could find out is said, with exit code 6", async () => {
  const { service, options } = await world("status=500,method=POST");
  const { code, stdout, stderr } = await run([...(COMMANDS["reply"] ?? []), "--format", "json"], options);
  expect({ code, errors: JSON.parse(stdout).diagnostics }).toMatchObject({
    code: 6,
    errors: [{ code: "ticket-outcome-unknown" }],
  });
  expect(stderr).toContain("it is not known whether ticket 7 was answered: the service failed (500)");
  expect(postsOf(service)).toBe(2);
});

test("the first Ctrl-C lets a request end that is under way, and starts no other", async () => {
  const { service, options } = await world("slow-headers=700,method=POST,nth=1");
  const child = start(COMMANDS["attach"] ?? [], options);
  const end = ended(child);
  await until(() => postsOf(service) === 1);
  child.kill("SIGINT");
  const { code, stdout, stderr } = await end;
  expect({ code, stdout }).toEqual({ code: 130, stdout: "Attached a.txt (1 bytes).\n" });
  expect(stderr).toBe("warning: b.txt was not sent\nwarning: c.txt was not sent\n");
  expect(await stateOf(service)).toEqual({ ...BEFORE, attachments: ["a.txt"] });
});

test("the first signal ends what is read before anything is sent", async () => {
  const { service, options } = await world("slow-headers=20000,method=GET");
  for (const [command, args] of Object.entries(COMMANDS)) {
    const asked = service.requests.length;
    const child = start(args, options);
    const end = ended(child);
    await until(() => service.requests.length > asked);
    child.kill("SIGTERM");
    // What is under way may take seven seconds, once something was sent.
    const { code } = await Promise.race([end, delay(4_000, { code: "still under way" })]);
    expect([command, code]).toEqual([command, 143]);
  }
  expect(postsOf(service)).toBe(0);
});
