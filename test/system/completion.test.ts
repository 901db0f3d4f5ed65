/** Completion as a person has it: real shells at a terminal. Needs script (util-linux), bash, zsh and fish. */

import { describe, expect, it } from "vitest";
import { SHELLS, type Shell, typed as typedIn } from "./shells.ts";

const HOSTILE = "evil $(touch pwned) `touch pwned` 'q' \"d\" ;&|<>* \\ ~ !!";

/** Begins with a letter that is newer than the C library's tables, which bash writes as an escape. */
const NEWER = "nu\u1c89$(touch pwned)`touch pwned`;touch pwned #";

const MANIFEST = `tenon: 1
environments: { staging: {}, production: {}, '${HOSTILE.replaceAll("'", "''")}': {}, "${NEWER}": {} }
vpcs: [{ label: prod, region: us-east, subnets: [{ label: web, ipv4: 10.0.1.0/24 }] }]
domains: [{ domain: example.com, type: master, soa_email: a@example.com, records: [{ type: A, name: www, target: 192.0.2.1 }] }]
images: [{ label: "it's a, b?" }]
`;

function typed(shell: Shell, keys: string) {
  return typedIn(shell, keys, { "tenon.yaml": MANIFEST, "a plan.txt": "", "a folder/tenon.yaml": MANIFEST });
}

describe.each(SHELLS)("$name", (shell) => {
  const { command } = shell;

  it("completes a command, a flag, and an environment of the manifest", async () => {
    expect((await typed(shell, "tenon valid\t--strict")).words).toEqual(["validate", "--strict"]);
    expect((await typed(shell, "tenon plan --detailed\t--env sta\t")).words).toEqual([
      ...["plan", "--detailed-exitcode", "--env", "staging"],
    ]);
  });

  it("completes addresses, and what is in them", async () => {
    expect((await typed(shell, "tenon show vpc/p\t")).words).toEqual(["show", "vpc/prod"]);
    expect((await typed(shell, "tenon apply --target domain/example.com/\t")).words).toEqual([
      ...["apply", "--target", "domain/example.com/www/A"],
    ]);
  });

  it("completes behind = and :, where a shell may split words", async () => {
    expect((await typed(shell, "tenon apply --allow delete=vpc/p\t")).words).toEqual([
      "apply",
      "--allow",
      "delete=vpc/prod",
    ]);
    expect((await typed(shell, "tenon plan --env=prod\t")).words).toEqual(["plan", "--env=production"]);
  });

  it("hands on a hostile name as one word, and carries out nothing of it", async () => {
    const { words, files } = await typed(shell, "tenon plan --env ev\t");
    expect(words).toEqual(["plan", "--env", HOSTILE]);
    expect(files).not.toContain("pwned");
    expect((await typed(shell, "tenon show image/i\t")).words).toEqual(["show", "image/it's a, b?"]);
  });

  it("lists a value that has no description once", async () => {
    // bash lists at the second tab, at which fish opens a menu.
    const tabs = command.startsWith("bash") ? "\t\t" : "\t";
    const { words, shown } = await typed(shell, `tenon plan --format ${tabs}`);
    expect(words.slice(0, 2)).toEqual(["plan", "--format"]);
    expect(shown).toContain("markdown");
    expect(shown).not.toMatch(/markdown +-- +markdown/);
  });

  it("completes files where a file belongs", async () => {
    expect((await typed(shell, "tenon apply --plan a\\ p\t")).words).toEqual(["apply", "--plan", "a plan.txt"]);
    expect((await typed(shell, "tenon plan --out=a\\ p\t")).words).toEqual(["plan", "--out=a plan.txt"]);
    const { words } = await typed(shell, "tenon validate a\\ f\t");
    // zsh takes the last slash away as the line is sent.
    expect(words.map((word) => word.replace(/\/$/, ""))).toEqual(["validate", "a folder"]);
  });
});

describe("bash, where a quote is open", () => {
  const [bash] = SHELLS as [Shell];

  it.each([
    ["within the word", 'tenon plan --env="nu\t"', ["plan", "--env=nu"]],
    ["within the word, a single one", "tenon plan --env='nu\t'", ["plan", "--env=nu"]],
    ["and closed", 'tenon plan "--env"=nu\t', ["plan", `--env=${NEWER}`]],
    ["around the word", 'tenon plan --env "nu\t', ["plan", "--env", NEWER]],
    ["around the word, a single one", "tenon plan --env 'nu\t", ["plan", "--env", NEWER]],
    ["behind a backslash", "tenon plan --env ev\\il\t", ["plan", "--env", HOSTILE]],
  ])("%s: a hostile name is one word, or none, and nothing of it is carried out", async (_where, keys, expected) => {
    const { words, files } = await typed(bash, keys);
    expect(files).not.toContain("pwned");
    expect(words).toEqual(expected);
  });
});
