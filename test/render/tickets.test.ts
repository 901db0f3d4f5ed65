import { describe, expect, it } from "vitest";
import type { Ticket } from "../../src/model/ticket.ts";
import { renderTicket, renderTicketList } from "../../src/render/tickets.ts";

const TICKET: Ticket = {
  id: 20000001,
  summary: "No answer",
  description: "ns1 is silent.",
  status: "open",
  closable: true,
  opened: "2026-11-22T10:00:00",
  opened_by: "anna",
  updated: "2026-11-22T11:30:00",
  updated_by: "support",
  closed: null,
  attachments: [],
  entity: { id: 101, label: "prod", type: "vpc", url: "/v4/vpcs/101" },
};
const PLAIN = { colour: false, width: 80 };
const shown = (...args: Parameters<typeof renderTicket>): string => [...renderTicket(...args)].join("");

describe("a ticket as text", () => {
  it("hangs what is left of a summary that is too long for a line, however many blanks are in it", () => {
    for (const blanks of [" ", "  ", "     "]) {
      const summary = `${"x".repeat(52)}${blanks}closed  yesterday`;
      const [head, rest] = shown({ ...TICKET, summary }, [], { ...PLAIN, last: 20 }).split("\n");
      expect([head, rest]).toEqual([`Ticket 20000001 (open): ${"x".repeat(52)}`, "   closed yesterday"]);
    }
  });

  it("has what people look for first, and keeps lines and indentation", () => {
    const description = "See:\n\n\tindented\n    so, too\r\nend \n\n";
    const reply = {
      id: 1,
      created: "2026-11-22T11:30:00",
      created_by: "support",
      description: "Done.",
      from_linode: true,
    };
    expect(
      shown({ ...TICKET, description, closable: false }, [reply], { ...PLAIN, last: 20 }),
    ).toBe(`Ticket 20000001 (open): No answer
  about     vpc prod (id 101)
  opened    2026-11-22 10:00:00 UTC by anna
  updated   2026-11-22 11:30:00 UTC by support
  replies   1, 1 by the operator
  closable  no: only the operator can close it

2026-11-22 10:00:00 UTC, opened by anna
  See:

      indented
      so, too
  end

>> 2026-11-22 11:30:00 UTC, the operator's reply by support
  Done.
`);
  });

  it("breaks long lines and long words, of wide characters, too, without losing any", () => {
    const text = `${"word ".repeat(40)}${"日本".repeat(60)} ${"x".repeat(300)}`;
    const lines = shown({ ...TICKET, description: text }, [], { ...PLAIN, width: 60, last: 20 }).split("\n");
    const body = lines.slice(lines.findIndex((line) => line.endsWith("opened by anna")) + 1, -1);
    const columns = (line: string) => [...line].reduce((sum, character) => sum + (character > "\u2fff" ? 2 : 1), 0);
    expect(body.every((line) => line.startsWith("  ") && columns(line) <= 60)).toBe(true);
    expect(
      body
        .map((line) => line.slice(2))
        .join("")
        .replaceAll(" ", ""),
    ).toBe(text.replaceAll(" ", ""));
  });

  it("is bounded in the lines of one text, unless all is asked for", () => {
    const description = "line\n".repeat(30_000);
    const short = shown({ ...TICKET, description }, [], { ...PLAIN, last: 20 }).split("\n");
    expect(short).toHaveLength(209);
    expect(short.at(-2)).toBe("  ... more of this text is not shown: --all shows it");
    expect(shown({ ...TICKET, description }, [], { ...PLAIN, last: null }).split("\n").length).toBeGreaterThan(30_000);
  });

  it("holds words of the longest text", () => {
    const replies = Array.from({ length: 30 }, (_, index) => ({
      id: index + 1,
      created: "",
      created_by: "",
      from_linode: false,
      description: "日".repeat(65_535),
    }));
    expect(shown(TICKET, replies, { ...PLAIN, last: null }).length).toBeGreaterThan(30 * 65_535);
  });
});

describe("a list of tickets as text", () => {
  it("fits the width, whatever the service says", () => {
    const wide = { ...TICKET, summary: "日本語".repeat(30), status: "x".repeat(200), updated: "y".repeat(200) };
    const text = renderTicketList([TICKET, wide, { ...TICKET, entity: null }], { ...PLAIN, width: 120 }, false);
    expect(text.split("\n")[1]).toMatch(/^20000001 {2}open {38}2026-11-22 11:30 {26}No answer \(vpc prod\)$/);
    expect(text.split("\n")[2]).toMatch(/^20000001 {2}x{39}… {2}y{39}… {2}(日本語){4}…$/);
    expect(renderTicketList([TICKET], PLAIN, true)).toBe(
      "ID        STATUS  UPDATED           SUMMARY\n20000001  open    2026-11-22 11:30  No answer (vpc prod)\n\n1 ticket, open.\n",
    );
  });
});
