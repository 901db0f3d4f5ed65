/** Outcomes of requests as a pipeline sees them: cases for real runs of `tenon apply`, told by exit code and words. */

import type { Emulator, Fault } from "../../src/emulator/index.ts";
import { type Ended, emulator, envOf, folder, PROJECT, run } from "../cli/run.ts";

export interface Case {
  readonly name: string;
  readonly fault: Fault;
  readonly code: number;
  readonly stdout: readonly RegExp[];
  readonly stderr: readonly RegExp[];
  /** Requests that changed something, or tried to. */
  readonly mutations: number;
}

const RECORDS = "/domains/*/records";
/** A VPC with its subnet, a domain, two records, the activation. */
const MUTATIONS = 5;

export const CASES: readonly Case[] = [
  {
    name: "the answer to a POST is lost: it is found, and all is done",
    fault: { effect: { type: "drop-after" }, method: "POST", path: RECORDS, times: 1 },
    code: 0,
    stdout: [/Apply complete! Resources: 5 added, 0 changed, 0 destroyed\./],
    stderr: [],
    mutations: MUTATIONS,
  },
  {
    name: "a POST is lost before it arrives: it is sent again, and all is done",
    fault: { effect: { type: "drop-before" }, method: "POST", path: RECORDS, times: 1 },
    code: 0,
    stdout: [/Apply complete! Resources: 5 added, /],
    stderr: [],
    mutations: MUTATIONS + 1,
  },
  {
    name: "the service is busy: it is sent again",
    fault: { effect: { type: "busy" }, method: "PUT", times: 1 },
    code: 0,
    stdout: [/Apply complete! Resources: 5 added, /],
    stderr: [],
    mutations: MUTATIONS + 1,
  },
  {
    name: "a request is refused: the rest is done, what depends on it is not",
    fault: { effect: { type: "status", status: 400 }, method: "POST", path: RECORDS, times: 1 },
    code: 6,
    stdout: [/the service refused the request \(400\): Bad Request/, /Apply incomplete: /],
    stderr: [],
    mutations: MUTATIONS - 1,
  },
  {
    name: "the token lacks a right: the report says which",
    fault: { effect: { type: "status", status: 403 }, method: "POST", path: "/vpcs", times: 1 },
    code: 6,
    stdout: [/\(403\): .*needs the scope vpc:read_write/, /Apply incomplete: /],
    stderr: [],
    mutations: MUTATIONS,
  },
  {
    name: "the token is not accepted any more: nothing else is begun",
    fault: { effect: { type: "status", status: 401 }, method: "POST", times: 1 },
    code: 6,
    stdout: [/the service did not accept the token \(401\)/, /Apply incomplete: /],
    stderr: [],
    mutations: 1,
  },
  {
    name: "the token is not accepted while reading: nothing is written",
    fault: { effect: { type: "status", status: 401 }, method: "GET" },
    code: 1,
    stdout: [/^$/],
    stderr: [
      /^error: cannot read the list of .*: the service did not accept the token \(401\)/,
      /Check the token in TENON_TOKEN/,
    ],
    mutations: 0,
  },
  {
    name: "the service fails while reading for longer than --retry-for: nothing is written",
    fault: { effect: { type: "html", status: 502 }, method: "GET" },
    code: 1,
    stdout: [/^$/],
    stderr: [/^error: cannot read the list of /, /\(502\), with an HTML page instead of JSON/],
    mutations: 0,
  },
];

/** @param again also that the next apply ends it, and a further plan is empty */
export async function tryCase(one: Case, again: boolean): Promise<string[]> {
  const service = await emulator({ faults: [one.fault] });
  const options = { cwd: await folder({ "tenon.yaml": PROJECT }), env: envOf(service) };
  // One at a time, so that what a refusal of the token leaves is the same each time.
  const args = ["apply", "--yes", "--concurrency", "1", "--retry-for", "5s"];
  const first = await run(args, options);
  const sent = mutationsOf(service);
  const problems = [...firstProblems(one, first, sent)];
  if (again) {
    service.setFaults([]);
    const second = await run(args, options);
    problems.push(...laterProblems(second, await run(["plan", "--detailed-exitcode"], options)));
  }
  return problems.map((text) => `${one.name}: ${text}`);
}

function* firstProblems(one: Case, { code, stdout, stderr }: Ended, sent: number): Generator<string> {
  if (code !== one.code) yield `exit code ${code}`;
  for (const words of one.stdout) if (!words.test(stdout.replace(/\n +/g, " "))) yield `stdout is ${stdout}`;
  for (const words of one.stderr) if (!words.test(stderr.replace(/\n +/g, " "))) yield `stderr is ${stderr}`;
  if (sent !== one.mutations) yield `${sent} mutating requests`;
}

function* laterProblems(second: Ended, third: Ended): Generator<string> {
  if (second.code !== 0) yield `the second apply ends with ${second.code}: ${second.stdout}${second.stderr}`;
  if (third.code !== 0) yield `the third plan ends with ${third.code}: ${third.stdout}${third.stderr}`;
}

function mutationsOf({ requests }: Emulator): number {
  return requests.filter(({ method }) => method !== "GET").length;
}
