import { expect, test } from "vitest";
import { SHELLS, type Shell, typed } from "./shells.ts";

const MAKEFILE = "X := $(shell touch pwned)\nall:\n";

test("nothing of the name of a folder is carried out when a shell completes a path", async () => {
  const names = [
    "x:$[a[$(touch pwned)]]",
    "y'$[a[$(touch pwned)]]",
    "z\\$(touch pwned)",
    "q=`touch pwned`",
    "a;make x",
    "w(e:touch pwned:)",
  ];
  const complete = async (shell: Shell): Promise<void> => {
    for (const name of names) {
      const content = { [`${name}/sub/tenon.yaml`]: "tenon: 1\n", Makefile: MAKEFILE };
      const { words, files } = await typed(shell, `tenon validate ${name[0]}\t\t`, content);
      // zsh takes the last slash away as the line is sent.
      const [command, path, ...rest] = words;
      expect([command, ...rest]).toEqual(["validate"]);
      expect([name, `${name}/sub`]).toContain(path?.replace(/\/$/, ""));
      expect({ shell: shell.name, name, files }).toEqual({
        shell: shell.name,
        name,
        files: expect.not.arrayContaining(["pwned"]),
      });
    }
  };
  // Without its configuration fish has no completions of other commands, as that of make, which reads a Makefile.
  const shells = SHELLS.map((shell) => ({ ...shell, command: shell.command.replace("--no-config ", "") }));
  await Promise.all(shells.map(complete));
}, 240_000);
