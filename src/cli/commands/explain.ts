/** `tenon explain [WHAT]`: what a field of a manifest is, and what a code means. */

import type { Command } from "commander";
import { readPackageFile } from "../../files/package-files.ts";
import { lintRules } from "../../index.ts";
import type { JsonObject } from "../../model/resource.ts";
import { jsonText, nearest } from "../../model/text.ts";
import { explainField, fieldsCalled, fieldTree, renderExplanation, renderFields } from "../../render/explain.ts";
import { escapeText, usableWidth, wrap } from "../../render/terminal.ts";
import { EXIT, type ExitCode, type Finish } from "../exit.ts";
import { formatFlag } from "../flags.ts";
import { ERROR_CODES, sayError } from "../messages.ts";
import { withJsonErrors } from "../output.ts";
import type { Terminal } from "../terminal.ts";

interface ExplainFlags {
  readonly recursive?: boolean;
  readonly format: "text" | "json";
}

export function define(command: Command, terminal: Terminal, finish: Finish): void {
  command
    .description("Explain a field of a manifest, or the code of a message.")
    .argument("[what]", "a field such as vpcs.subnets.ipv4, or a code (default: all of a manifest)")
    .option("--recursive", "the fields below it, all levels, by name and type")
    .addOption(formatFlag("how to show it"))
    .addHelpText(
      "after",
      `
Examples:
  tenon explain domains
  tenon explain domain.records.MX
  tenon explain vpcs.subnets.ipv4
  tenon explain ttl
  tenon explain images --recursive
  tenon explain mx-without-spf`,
    )
    .action(async (what, flags) => {
      const { format } = flags;
      finish(
        await withJsonErrors(terminal, { format, stream: false }, async (inner) => explain(inner, what ?? "", flags)),
      );
    });
}

async function explain(terminal: Terminal, what: string, { recursive, format }: ExplainFlags): Promise<ExitCode> {
  const schema = JSON.parse(readPackageFile("schemas/manifest.schema.json")) as JsonObject;
  const found = explainField(schema, what);
  const width = usableWidth(terminal.results.width);
  if (found.ok) {
    const { explanation } = found;
    if (format === "json") terminal.print(`${jsonText(explanation, 2)}\n`);
    else if (recursive === true) terminal.print(`${fieldTree(schema, explanation).join("\n")}\n`);
    else terminal.print(renderExplanation(explanation, width));
    return EXIT.done;
  }
  const codes = await codeTexts();
  const code = codes.get(what);
  if (code !== undefined) {
    terminal.print(format === "json" ? `${jsonText({ code: what, ...code }, 2)}\n` : codeText(what, code, width));
    return EXIT.done;
  }
  const called = fieldsCalled(schema, what);
  const [only] = called;
  if (only !== undefined) {
    if (format === "json") terminal.print(`${jsonText(called.length === 1 ? only : called, 2)}\n`);
    else if (called.length === 1) terminal.print(renderExplanation(only, width));
    else terminal.print(renderFields(what, called, width));
    return EXIT.done;
  }
  const near = what.includes("-") ? nearest(what, [...codes.keys()]) : null;
  sayError(terminal, {
    code: "unknown-field",
    summary: `${found.where} has no field ${found.word}`,
    fix: near === null ? found.suggestion : `Did you mean the code \`${near}\`?`,
  });
  return EXIT.error;
}

interface CodeText {
  /** Of a lint rule; null: of the command line, or of a manifest or a plan. */
  readonly severity: "error" | "warning" | null;
  readonly finds: string;
  readonly why: string;
  readonly fix: string;
  /** A message that has the code, as it is shown; empty if none is kept. */
  readonly example: string;
}

/** The codes of all messages: what is known of each beside its name, and a message that has it. */
async function codeTexts(): Promise<ReadonlyMap<string, CodeText>> {
  const rules = await lintRules();
  const examples = JSON.parse(readPackageFile("schemas/messages.json")) as Readonly<Record<string, string>>;
  const exampleOf = (code: string): string => (Object.hasOwn(examples, code) ? (examples[code] ?? "") : "");
  return new Map<string, CodeText>([
    ...Object.entries(examples).map(
      ([code, example]) => [code, { severity: null, finds: "", why: "", fix: "", example }] as const,
    ),
    ...Object.entries(ERROR_CODES).map(([code, meaning]) => {
      return [code, { severity: null, finds: meaning, why: "", fix: "", example: exampleOf(code) }] as const;
    }),
    ...rules.map(
      ({ code, severity, finds, why, fix }) => [code, { severity, finds, why, fix, example: exampleOf(code) }] as const,
    ),
  ]);
}

function codeText(code: string, { severity, finds, why, fix, example }: CodeText, width: number): string {
  const kind = severity === null ? kindOf(finds, example) : `a lint ${severity}`;
  const off =
    severity === null
      ? ""
      : `Switched off with \`lint: { off: [${code}] }\`: at a record, a domain, or in the root file.`;
  const parts = [
    [`${escapeText(code)}, ${kind}`, ...wrap(finds, width, 2)],
    ...[why, fix, off].map((text) => wrap(text, width, 2)),
    example === "" ? [] : ["For example:", "", ...example.split("\n").map(escapeText)],
    example === "" && finds === "" ? wrap("The message itself says what is wrong, and what to do.", width, 2) : [],
  ];
  return `${parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

function kindOf(finds: string, example: string): string {
  if (finds !== "") return "an error of the command line";
  const severity = /^(error|warning)\[/.exec(example)?.[1];
  if (severity !== undefined) return severity === "error" ? "an error" : "a warning";
  return "the code of a message";
}
