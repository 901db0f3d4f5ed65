/** `tenon version`: the version, and what it runs on. */

import type { Command } from "commander";
import { isStandalone } from "../../files/package-files.ts";
import { jsonText } from "../../model/text.ts";
import { EXIT, type Finish } from "../exit.ts";
import { formatFlag } from "../flags.ts";
import { readVersion, type Terminal } from "../terminal.ts";

export function define(command: Command, terminal: Terminal, finish: Finish): void {
  command
    .description("Show the version, and what it runs on. tenon --version is the version alone.")
    .addOption(formatFlag("how to show it"))
    .addHelpText("after", "\nExamples:\n  tenon version\n  tenon version --format json | jq -r .version")
    .action(({ format }) => {
      terminal.print(format === "json" ? json() : text());
      finish(EXIT.done);
    });
}

function facts() {
  const { platform, arch, versions } = process;
  return { version: readVersion(), node: versions.node, platform, arch, standalone: isStandalone };
}

function text(): string {
  const { version, node, platform, arch, standalone } = facts();
  return `tenon ${version}\nnode ${node}, ${platform} ${arch}${standalone ? ", standalone" : ""}\n`;
}

function json(): string {
  return `${jsonText(facts(), 2)}\n`;
}
