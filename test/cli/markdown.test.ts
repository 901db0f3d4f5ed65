import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { apply, destroy } from "../../src/cli/commands/apply.ts";
import { plan } from "../../src/cli/commands/plan.ts";
import { show } from "../../src/cli/commands/show.ts";
import { withWriter } from "../../src/cli/writer.ts";
import type { Emulator } from "../../src/emulator/index.ts";
import { emulator, envOf, folder, PROJECT } from "./run.ts";
import { type Stage, stage } from "./stage.ts";

const MARKDOWN = { format: "markdown", yes: true, clone: true } as const;

interface Place {
  readonly service: Emulator;
  readonly cwd: string;
  readonly summary: string;
  readonly flags: typeof MARKDOWN & { baseUrl: string };
  stage(): Stage;
}

async function place(project = PROJECT, summary?: string): Promise<Place> {
  const service = await emulator();
  const cwd = await folder({ "tenon.yaml": project });
  const file = summary ?? join(cwd, "summary.md");
  const environment = { ...envOf(service), GITHUB_STEP_SUMMARY: file };
  return {
    service,
    cwd,
    summary: file,
    flags: { ...MARKDOWN, baseUrl: service.baseUrl },
    stage: () => stage(environment),
  };
}

describe("--format markdown", () => {
  it("shows a plan, the same from its file, a report, and a report that destroys", async () => {
    const { cwd, flags, stage: at } = await place();
    const [planned, shown, applied, idle, destroyed] = [at(), at(), at(), at(), at()];
    const out = join(cwd, "the.plan");
    expect(await plan(planned.terminal, cwd, { ...flags, out })).toBe(0);
    expect(planned.printed()).toMatch(/^## Plan: 5 to add, 0 to change, 0 to destroy\.\n/);
    expect(await show(shown.terminal, out, { format: "markdown" })).toBe(0);
    expect(shown.printed()).toBe(planned.printed());
    expect(await apply(applied.terminal, cwd, flags, withWriter)).toBe(0);
    expect(applied.printed()).toMatch(/^## Apply complete: 5 added, 0 changed, 0 destroyed\.\n/);
    expect(await apply(idle.terminal, cwd, flags, withWriter)).toBe(0);
    expect(idle.printed()).toBe("## No changes. Your infrastructure matches the configuration.\n");
    expect(await destroy(destroyed.terminal, cwd, flags, withWriter)).toBe(0);
    expect(destroyed.printed()).toMatch(/^## Destroy complete: 0 added, 0 changed, [1-9]\d* destroyed\.\n/);
  });

  it("shows why nothing was done, and exits as ever", async () => {
    const { cwd, flags, stage: at } = await place();
    await apply(at().terminal, cwd, flags, withWriter);
    await writeFile(join(cwd, "tenon.yaml"), "tenon: 1\nowner: edge\n");
    const guarded = at();
    expect(await apply(guarded.terminal, cwd, flags, withWriter)).toBe(4);
    expect(guarded.printed()).toContain("**Apply would refuse this plan:**");
    expect(guarded.printed()).toContain("    --allow delete=vpc/prod\n");
    const reviewed = join(cwd, "empty.plan");
    await writeFile(join(cwd, "tenon.yaml"), PROJECT);
    await plan(at().terminal, cwd, { ...flags, out: reviewed });
    await writeFile(join(cwd, "tenon.yaml"), PROJECT.replace("192.0.2.1", "192.0.2.2"));
    const outside = at();
    expect(await apply(outside.terminal, cwd, { ...flags, plan: reviewed }, withWriter)).toBe(5);
    expect(outside.printed()).toContain("```text\nupdate domain/example.com/www/A\n```");
  });

  it("shows what is refused for good, too", async () => {
    const { cwd, flags, stage: at } = await place();
    await apply(at().terminal, cwd, flags, withWriter);
    await writeFile(join(cwd, "tenon.yaml"), PROJECT.replace("owner: edge", "owner: other"));
    const refused = at();
    expect(await plan(refused.terminal, cwd, flags)).toBe(4);
    expect(refused.printed()).toMatch(/^## Plan refused: /);
    expect(refused.printed()).toMatch(/\*\*Refused\*\*\n\n```text\n.*edge/);
  });

  it("is for plans, not for manifests", async () => {
    const { cwd, stage: at } = await place();
    const asked = at();
    expect(await show(asked.terminal, cwd, { format: "markdown", expanded: true })).toBe(1);
    expect(asked.said()).toContain("markdown is for plans");
  });
});

describe("the summary of a GitHub step", () => {
  it("gets what each command has to say, one after the other, whatever the format", async () => {
    const { cwd, flags, summary, stage: at } = await place();
    await plan(at().terminal, cwd, { ...flags, format: "json" });
    await apply(at().terminal, cwd, { ...flags, format: "text" }, withWriter);
    const applied = at();
    await destroy(applied.terminal, cwd, flags, withWriter);
    const text = await readFile(summary, "utf8");
    expect(text.match(/^## .*$/gm)).toEqual([
      "## Plan: 5 to add, 0 to change, 0 to destroy.",
      "## Apply complete: 5 added, 0 changed, 0 destroyed.",
      applied.printed().split("\n", 1)[0],
    ]);
    expect(text).toMatch(/\n\n## Apply/);
  });

  it("is not needed: a file that cannot be written is a warning, and an empty name is none at all", async () => {
    const base = await folder({});
    await mkdir(join(base, "a-folder"));
    for (const [summary, warning] of [
      [join(base, "a-folder"), /^warning: the summary of the step cannot be written: EISDIR/m],
      [join(base, "not/there"), /^warning: the summary of the step cannot be written: ENOENT/m],
      ["", /^The project declares nothing, [^\n]*\n$/],
    ] as const) {
      const { cwd, flags, stage: at } = await place("tenon: 1\n", summary);
      const ran = at();
      expect(await apply(ran.terminal, cwd, flags, withWriter)).toBe(0);
      expect(ran.said()).toMatch(warning);
    }
  });
});
