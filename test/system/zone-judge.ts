/**
 * Judges a rendered zone file by other people's programs: named-checkzone reads it, a nameserver serves it, c-ares (Node's
 * resolver) and dig ask. Nothing here knows the emulator's code; what the answers must be is worked out from the records of the API.
 */

import { execFile } from "node:child_process";
import { Resolver } from "node:dns/promises";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished } from "vitest";
import type { EmulatorOptions } from "../../src/emulator/index.ts";
import { startTested, type Tested } from "../support/emulator.ts";
import { type NameserverKind, startNameserver } from "../support/nameserver.ts";

const run = promisify(execFile);

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

export interface ApiDomain {
  readonly id: number;
  readonly domain: string;
  readonly ttl_sec: number;
}

export interface ApiRecord {
  readonly id: number;
  readonly type: string;
  readonly name: string;
  readonly target: string;
  readonly ttl_sec: number;
  readonly priority: number;
  readonly weight: number;
  readonly port: number;
  readonly tag: string | null;
}

export interface Made extends Tested {
  readonly domain: ApiDomain;
  /** Refused records fail the test. */
  add(...records: readonly object[]): Promise<void>;
  /** As the API lists them, all pages. */
  records(): Promise<readonly ApiRecord[]>;
  /** The zone file as it would be on a disk. */
  zone(): Promise<string>;
}

/** A running emulator with one domain. */
export async function makeZone(domain: object = {}, options: EmulatorOptions = {}): Promise<Made> {
  const tested = await startTested(options);
  const { send } = tested;
  const body = { domain: "example.com", type: "master", soa_email: "hostmaster@example.com", ...domain };
  const made = await send("POST", "/domains", body);
  expect([made.status, made.body.errors]).toEqual([200, ""]);
  const path = `/domains/${made.body.id}`;
  return {
    ...tested,
    domain: made.body,
    add: async (...records) => {
      for (const record of records) {
        const answer = await send("POST", `${path}/records`, record);
        expect([record, answer.status, answer.body.errors]).toEqual([record, 200, undefined]);
      }
    },
    records: async () => {
      const all: ApiRecord[] = [];
      for (let page = 1, pages = 1; page <= pages; page += 1) {
        const { body: list } = await send("GET", `${path}/records?page=${page}&page_size=500`);
        all.push(...list.data);
        pages = list.pages;
      }
      return all;
    },
    zone: async () => zoneText(made.body.domain, (await send("GET", `${path}/zone-file`)).body.zone_file),
  };
}

export function zoneText(domain: string, lines: readonly string[]): string {
  return [`$ORIGIN ${domain}.`, ...lines, ""].join("\n");
}

/** What of the records is in a zone file, by the comments that say what is not. */
export function heldIn(zone: string, records: readonly ApiRecord[]): readonly ApiRecord[] {
  const left = new Set([...zone.matchAll(/^; record (\d+) \(\w+\) is left out: /gm)].map(([, id]) => Number(id)));
  return records.filter(({ id }) => !left.has(id));
}

/**
 * Names of hosts are no matter of syntax, and names elsewhere are not looked up: all else is checked.
 * @returns what was said
 */
export async function checkZone(domain: string, text: string): Promise<{ ok: boolean; said: string }> {
  const folder = await mkdtemp(join(tmpdir(), "tenon-zone-"));
  try {
    const file = join(folder, "zone");
    await writeFile(file, text);
    const flags = ["-i", "local", "-k", "ignore"];
    const { stdout, stderr } = await run("named-checkzone", [...flags, domain, file], { maxBuffer: MAX_OUTPUT_BYTES });
    return { ok: true, said: stdout + stderr };
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    if (stdout === "" && stderr === "") throw error;
    return { ok: false, said: stdout + stderr };
  } finally {
    await rm(folder, { recursive: true });
  }
}

export interface Served {
  readonly resolver: Resolver;
  /** Answer lines for all questions, each as `-q NAME -t TYPE`. */
  answers(questions: readonly string[]): Promise<readonly AnswerLine[]>;
  /** What dig prints in full for one question. */
  dig(name: string, type: string): Promise<string>;
}

export interface AnswerLine {
  readonly name: string;
  readonly ttl: number;
  readonly type: string;
  readonly data: string;
}

/** The zone at a real nameserver, until the test ends. */
export async function serveZone(domain: string, text: string, kind: NameserverKind = "nsd"): Promise<Served> {
  const server = await startNameserver({ zones: { [domain]: text }, kind });
  onTestFinished(() => server.close());
  const resolver = new Resolver({ timeout: 5_000, tries: 2 });
  resolver.setServers([`${server.host}:${server.port}`]);
  const at = [`@${server.host}`, "-p", String(server.port), "+norec", "+tries=2"];
  const dig = async (args: readonly string[]): Promise<string> =>
    (await run("dig", ["-r", ...at, ...args], { maxBuffer: MAX_OUTPUT_BYTES })).stdout;
  return {
    resolver,
    dig: (name, type) => dig(["-q", `${name}.`, "-t", type]),
    answers: async (questions) => {
      const folder = await mkdtemp(join(tmpdir(), "tenon-dig-"));
      const file = join(folder, "questions");
      await writeFile(file, questions.map((question) => `${question}\n`).join(""));
      const text = await dig(["+noall", "+answer", "-f", file]);
      await rm(folder, { recursive: true });
      return text.split("\n").flatMap(answerLine);
    },
  };
}

function answerLine(line: string): AnswerLine[] {
  const match = /^(\S+)\s+(\d+)\s+IN\s+(\S+)\s+(.*)$/.exec(line);
  if (match === null) return [];
  const [, name = "", ttl = "", type = "", data = ""] = match;
  return [{ name: name.replace(/\.$/, "").toLowerCase(), ttl: Number(ttl), type, data }];
}
