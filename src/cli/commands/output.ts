/** `tenon output`: prints ids, and what else other tools want to know of what is declared. */

import { type Command, Option } from "commander";
import { type ParsedAddress, parseAddress } from "../../index.ts";
import type { InventoryItem } from "../../model/inventory.ts";
import type { Json, JsonObject } from "../../model/resource.ts";
import { compareText, groupBy, jsonText, suggestion } from "../../model/text.ts";
import { escapeText } from "../../render/terminal.ts";
import { needDialect, withReader } from "../connection.ts";
import { EXIT, type ExitCode, type Finish } from "../exit.ts";
import { addConnectionFlags, addProjectFlags, type ConnectionFlags, type ProjectFlags } from "../flags.ts";
import { sayError, sayFailure } from "../messages.ts";
import { withJsonErrors } from "../output.ts";
import { openProject } from "../project.ts";
import { sayLine } from "../say-line.ts";
import { accountRefused } from "../session.ts";
import type { Terminal } from "../terminal.ts";

const FORMATS = ["raw", "json"] as const;

interface OutputFlags extends ProjectFlags, ConnectionFlags {
  readonly project?: string;
  readonly field?: string;
  readonly format?: (typeof FORMATS)[number];
}

export function define(command: Command, terminal: Terminal, finish: Finish): void {
  command
    .description("Print the ids of what is declared and there, for other tools. Nothing is changed.")
    .argument("[address]", "of one object (default: all but records, as JSON)")
    .option("--field <name>", "another value than the id, for example ipv4 or vpc_id")
    .option("--project <dir>", "the project's folder or root file (default: here)")
    .addOption(new Option("--format <format>", "raw: values, one a line").choices(FORMATS))
    .addHelpText(
      "after",
      `
Of what is declared and not in the account, an ADDRESS is an error, and JSON
leaves it out. Records that share an address have a line each. A list for each
kind that is declared is read; records are, where ADDRESS names some.

Examples:
  tenon output vpc/prod/subnet/web
  tenon output vpc/prod/subnet/web --field ipv4
  tenon output | jq -r '.outputs["domain/example.com"].id'
  tenon output --format raw --env production`,
    )
    .action(async (address, flags) => {
      const format = formatOf(address, flags) === "json" ? "json" : "text";
      finish(await withJsonErrors(terminal, { format, stream: false }, (inner) => output(inner, address, flags)));
    });
  addConnectionFlags(addProjectFlags(command));
}

function formatOf(address: string | undefined, { field, format }: OutputFlags): (typeof FORMATS)[number] {
  return format ?? (address === undefined && field === undefined ? "json" : "raw");
}

async function output(terminal: Terminal, text: string | undefined, flags: OutputFlags): Promise<ExitCode> {
  const address = text === undefined ? null : parseAddress(text);
  if (text !== undefined && address === null) {
    sayError(terminal, {
      code: "invalid-argument",
      summary: `${text} is no address`,
      fix: "An address begins with vpc/, domain/ or image/, as in vpc/prod/subnet/web; a folder is given as --project DIR.",
    });
    return EXIT.error;
  }
  const dialect = needDialect(terminal, flags);
  if (dialect === null) return EXIT.error;
  const opened = await openProject(terminal, flags.project, flags, dialect);
  if (!opened.ok) return opened.code;
  const { project } = opened;
  const refusal = accountRefused(terminal, project);
  if (refusal !== null) return refusal;
  return withReader(terminal, flags, async (api) => {
    const { takeOutputs } = await import("../../index.ts");
    const taken = await takeOutputs({
      ...{ api, desired: project.desired, address, nowMilliseconds: Date.now() },
      watch: { signal: terminal.interrupt.first },
    });
    if (!taken.ok) {
      sayFailure(terminal, `cannot read ${taken.what}`, taken.failure);
      return terminal.interrupt.code() ?? EXIT.error;
    }
    const items = taken.items.filter((item) => address === null || item.address === address.address);
    if (address !== null && items.length === 0) {
      const known = [...project.desired.declared, ...taken.items].map((one) => escapeText(one.address));
      return sayNothing(terminal, address, taken.missing.includes(address.address), known);
    }
    return print(terminal, address, items, taken.missing, flags);
  });
}

function sayNothing(
  terminal: Terminal,
  { address }: ParsedAddress,
  isMissing: boolean,
  known: readonly string[],
): ExitCode {
  sayError(
    terminal,
    isMissing
      ? {
          code: "object-missing",
          summary: `${address} is declared, and the account has no object that is surely it`,
          fix: "tenon plan says what is to be made, and what is ambiguous.",
        }
      : {
          code: "address-unknown",
          summary: `the project declares no ${address}`,
          fix: suggestion(address, [...new Set(known)].sort(compareText)) || "tenon list shows what is in the account.",
        },
  );
  return EXIT.error;
}

function print(
  terminal: Terminal,
  address: ParsedAddress | null,
  items: readonly InventoryItem[],
  missing: readonly string[],
  flags: OutputFlags,
): ExitCode {
  const { field = "id" } = flags;
  const outputs = keyed(items);
  const lacking = Object.values(outputs).find((values) => !Object.hasOwn(values, field));
  if (flags.field !== undefined && address !== null && lacking !== undefined) {
    const known = Object.keys(lacking);
    const fix = suggestion(field, known);
    sayError(terminal, { code: "invalid-argument", summary: `${address.address} has no field ${field}`, fix });
    return EXIT.error;
  }
  if (formatOf(address?.address, flags) === "json") terminal.print(renderOutputs(outputs));
  else {
    for (const [key, values] of Object.entries(outputs)) {
      const value = values[field];
      if (address !== null) terminal.print(`${rawText(value)}\n`);
      else if (value !== undefined) terminal.print(`${escapeText(key)}\t${rawText(value)}\n`);
    }
  }
  if (address === null && missing.length > 0) {
    const are = missing.length === 1 ? "object that is declared is" : "objects that are declared are";
    sayLine(
      terminal,
      `note: ${missing.length} ${are} not in the account: ${escapeText(missing.slice(0, MAX_NAMED).join(", "))}${missing.length > MAX_NAMED ? ", …" : ""}`,
    );
  }
  return EXIT.done;
}

/** Of what is not there. */
const MAX_NAMED = 3;

/** By address, with an index where several records share one, as in plan files. */
function keyed(items: readonly InventoryItem[]): Readonly<Record<string, JsonObject>> {
  const entries = [...groupBy(items, ({ address }) => address)].flatMap(([address, same]) =>
    same.map(({ kind, id, values }, index): [string, JsonObject] => [
      same.length === 1 ? address : `${address}[${index}]`,
      { id, kind, ...values },
    ]),
  );
  return Object.fromEntries(entries);
}

/** On one line; a value that there is not is an empty one. */
function rawText(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  return escapeText(typeof value === "string" ? value : JSON.stringify(value));
}

/** The version of `schemas/output.schema.json`. */
const OUTPUT_FORMAT_VERSION = 1;

function renderOutputs(outputs: Readonly<Record<string, JsonObject>>): string {
  const lines = Object.entries(outputs).map(([address, values]) => `    ${jsonText(address)}: ${jsonText(values)}`);
  const map = lines.length === 0 ? "{}" : `{\n${lines.join(",\n")}\n  }`;
  return `{\n  "format_version": ${OUTPUT_FORMAT_VERSION},\n  "outputs": ${map}\n}\n`;
}
