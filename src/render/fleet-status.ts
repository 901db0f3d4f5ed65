/** How the accounts of a fleet are, as a table and as JSON. */

import { type AccountStatus, didWell, type FleetStatus } from "../model/fleet.ts";
import { groupBy, jsonText, roughTime } from "../model/text.ts";
import { type Column, renderTable } from "./listing.ts";
import { escapeText } from "./terminal.ts";
import { count } from "./view.ts";

/** `waiting` and `running` are of now; the others of the last run. */
export type AccountState = "running" | "waiting" | "failed" | "done" | "unknown";

/** In words: `unknown` is an account that no worker has run lately. */
export const STATE_WORDS: Readonly<Record<AccountState, string>> = {
  ...{ running: "running", waiting: "waiting", failed: "failed", done: "done", unknown: "not seen" },
};

export function accountState({ running, waiting, last }: AccountStatus): AccountState {
  if (running !== null) return "running";
  if (waiting > 0) return "waiting";
  if (last === null) return "unknown";
  return didWell(last.code) ? "done" : "failed";
}

/** `Fleet: 60 accounts: 4 running, 44 waiting, 1 failed, 11 done.` */
export function statusTally({ accounts }: FleetStatus): string {
  const counted = groupBy(accounts, accountState);
  const states: readonly AccountState[] = ["running", "waiting", "failed", "done", "unknown"];
  const counts = states.flatMap((state) => {
    const number = counted.get(state)?.length ?? 0;
    return number === 0 ? [] : [`${number} ${STATE_WORDS[state]}`];
  });
  return `Fleet: ${count(accounts.length, "account", "accounts")}: ${counts.join(", ")}.`;
}

/** `Queue: 3 waiting, 1 active, 0 delayed.` */
export function queueText({ queue: { waiting, active, delayed } }: FleetStatus): string {
  return `Queue: ${waiting} waiting, ${active} active, ${delayed} delayed.`;
}

/** `Workers: a:17, b:4 (silent).`, escaped, as whoever can write to the queue names workers; empty: none is known. */
export function workersText({ workers }: FleetStatus): string {
  const serving = workers.filter(({ state }) => state !== "ended");
  if (serving.length === 0) return "";
  const names = serving.map(({ name, state }) => escapeText(state === "serving" ? name : `${name} (${state})`));
  return `Workers: ${names.join(", ")}.`;
}

/** What the table says of an account now: `apply since 12 s by host:17`. */
export function nowText({ running, waiting, waitingSince }: AccountStatus, at: number): string {
  const parts: string[] = [];
  if (running !== null) {
    const silent = running.isSilent ? ", which is silent" : "";
    parts.push(`${running.command} since ${roughTime((at - running.since) / 1000)} by ${running.worker}${silent}`);
  }
  if (waiting > 0) {
    const since = waitingSince === null ? "" : ` since ${roughTime((at - waitingSince) / 1000)}`;
    parts.push(`${waiting === 1 ? "waits" : `${waiting} commands wait`}${since}`);
  }
  return parts.join("; ");
}

/** Newline-terminated. The last lines count the accounts and the queue. @param width as in `renderTable` */
export function renderStatusText(status: FleetStatus, width: number | null): string {
  const columns: readonly Column<AccountStatus>[] = [
    { field: "name", heading: "NAME", value: ({ name }) => name },
    { field: "state", heading: "STATE", value: (account) => STATE_WORDS[accountState(account)] },
    { field: "now", heading: "NOW", value: (account) => nowText(account, status.at) },
    {
      ...{ field: "last", heading: "LAST" },
      value: ({ last }) => (last === null ? null : `${last.command}: ${last.headline}`),
    },
    {
      ...{ field: "at", heading: "AGO" },
      value: ({ last }) => (last === null ? null : roughTime((status.at - last.at) / 1000)),
    },
  ];
  const lines = [statusTally(status), queueText(status), workersText(status)].filter((line) => line !== "");
  return `${renderTable(status.accounts, columns, width)}\n${lines.join("\n")}\n`;
}

/** The version of `schemas/fleet-status.schema.json`. */
const STATUS_FORMAT_VERSION = 1;

/** One account a line, newline-terminated. */
export function renderStatusJson(status: FleetStatus): string {
  const accounts = status.accounts.map((account) => {
    const { name, labels, waiting, waitingSince, running, last } = account;
    return {
      ...{ name, labels, state: accountState(account), waiting, waiting_since: timeOf(waitingSince) },
      running:
        running === null
          ? null
          : {
              ...{ command: running.command, worker: running.worker, since: timeOf(running.since) },
              silent: running.isSilent,
            },
      last:
        last === null
          ? null
          : {
              ...{ command: last.command, worker: last.worker, at: timeOf(last.at), seconds: last.milliseconds / 1000 },
              ...{ exit_code: last.code, headline: last.headline },
              ...{ requests: last.requests, throttled: last.throttled },
            },
    };
  });
  const workers = status.workers.map(({ since, alive, ...worker }) => {
    return { ...worker, since: timeOf(since), alive: timeOf(alive) };
  });
  const list = (rows: readonly object[]) =>
    rows.length === 0 ? "[]" : `[\n${rows.map((row) => `    ${jsonText(row)}`).join(",\n")}\n  ]`;
  return [
    `{\n  "format_version": ${STATUS_FORMAT_VERSION},\n  "at": ${jsonText(timeOf(status.at))},`,
    `  "queue": ${jsonText(status.queue)},`,
    `  "accounts": ${list(accounts)},`,
    `  "workers": ${list(workers)}\n}\n`,
  ].join("\n");
}

export function timeOf(milliseconds: number | null): string | null {
  // Whoever can write to the queue can write any number.
  const time = milliseconds === null ? null : new Date(milliseconds);
  return time === null || Number.isNaN(time.getTime()) ? null : time.toISOString();
}
