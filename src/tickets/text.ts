/** The text of a ticket or a reply: what it may be (API.md, Support), and how summary and description stand in one file. Pure. */

import type { Diagnostic } from "../model/diagnostic.ts";
import { isLongerThan } from "../model/text.ts";

/** API.md, Limits. */
export const MAX_SUMMARY_CHARACTERS = 64;
export const MAX_DESCRIPTION_CHARACTERS = 65_000;
export const MAX_REPLY_CHARACTERS = 65_535;

export interface TicketText {
  readonly summary: string;
  readonly description: string;
}

/** One file or editor: the summary on the first line, an empty line, the description. As in a commit's message. */
export function joinText({ summary, description }: TicketText): string {
  return `${summary}\n\n${description}\n`;
}

export function splitText(text: string): TicketText {
  const lines = unixLines(text).trim().split("\n");
  return { summary: (lines[0] ?? "").trim(), description: lines.slice(1).join("\n").trim() };
}

/** As the service may give it back: line ends and the blanks around it differ. */
export function isSameText(one: string, other: string): boolean {
  return unixLines(one).trim() === unixLines(other).trim();
}

function unixLines(text: string): string {
  return text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
}

/** @returns everything that is wrong with it */
export function checkTicketText({ summary, description }: TicketText): Diagnostic[] {
  return [
    checkText("summary", summary, MAX_SUMMARY_CHARACTERS),
    /[\r\n]/.test(summary.trim()) ? SUMMARY_OF_LINES : null,
    checkText("description", description, MAX_DESCRIPTION_CHARACTERS),
  ].filter((problem) => problem !== null);
}

export function checkReplyText(description: string): Diagnostic[] {
  const problem = checkText("reply", description, MAX_REPLY_CHARACTERS);
  return problem === null ? [] : [problem];
}

const SUMMARY_OF_LINES: Diagnostic = {
  code: "ticket-summary-lines",
  severity: "error",
  summary: "the summary has more than one line",
  detail: "It is the ticket's heading.",
  fix: "Put what follows into the description.",
};

function checkText(what: string, text: string, most: number): Diagnostic | null {
  if (text.trim() === "") {
    return {
      code: "ticket-text-empty",
      severity: "error",
      summary: `the ${what} is empty`,
      detail: "The service takes no ticket and no reply without a text.",
    };
  }
  if (text.includes("\0")) {
    return {
      code: "ticket-text-binary",
      severity: "error",
      summary: `the ${what} holds a NUL: it is no text`,
      detail: "",
      fix: "Attach a file with `tenon ticket attach`.",
    };
  }
  if (!isLongerThan(text, most)) return null;
  const characters = [...text].length;
  return {
    code: "ticket-text-too-long",
    severity: "error",
    summary: `the ${what} has ${characters.toLocaleString("en")} characters; the service takes ${most.toLocaleString("en")}`,
    detail: "",
    fix: what === "summary" ? "Put the details into the description." : "Attach the rest as a .txt file.",
  };
}
