/** Fleet reports for tests of what is shown of them. */

import type { AccountResult, FleetReport } from "../../src/model/fleet.ts";

/** What a plan prints for people. */
function planOf(name: string): string {
  return [
    `+ domain ${name}.example`,
    '    soa_email  "hostmaster@agency.example"',
    "  + www A 192.0.2.10",
    "  ~ mail A 192.0.2.1 -> 192.0.2.2",
    "  - old CNAME gone.example",
    "",
    "Plan: 2 to add, 1 to change, 1 to destroy.",
    "",
  ].join("\n");
}

const MISSING = `error[token-missing]: no token is set: SHOP_TOKEN is empty\n  = help: Set SHOP_TOKEN where this account is run.\n`;

/** What becomes of every tenth account, by the last digit of its number. */
function outcomeOf(index: number, name: string): AccountResult["outcome"] {
  const ran = (code: number, headline: string, text: string) =>
    ({ type: "ran", code, headline, text, markup: "plain", document: null }) as const;
  switch (index % 10) {
    case 0:
    case 1:
      return ran(1, "error: no token is set: SHOP_TOKEN is empty", MISSING);
    case 2:
      return ran(4, "1 to destroy, needs consent", `- domain ${name}.example\nRefused.\n`);
    case 3:
      return { type: "not-run", reason: "failures" };
    case 4:
    case 5:
    case 6:
      return ran(2, "2 to add, 1 to change, 1 to destroy", planOf(name));
    default:
      return ran(0, "no changes", "");
  }
}

/** Of every ten accounts two fail in the same way, one is refused, one has not run, three have changes of their own, and three have none. */
export function fleetReport(count: number): FleetReport {
  const accounts = Array.from({ length: count }, (_, index): AccountResult => {
    const name = `shop${index}`;
    const labels = { tier: index % 2 === 0 ? "gold" : "tin", customer: name };
    return { name, labels, outcome: outcomeOf(index, name) };
  });
  return { command: "plan", accounts };
}
