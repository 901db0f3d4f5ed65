/** A real nameserver of Debian's packages as a child process on loopback, for tests in `test/system`. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import dnsPacket from "dns-packet";

export type NameserverKind = "nsd" | "knot" | "bind";

export interface NameserverOptions {
  /** Zone name without final dot → text of its zone file; names in it are relative to the zone. */
  readonly zones: Readonly<Record<string, string>>;
  /** Whether loopback may transfer the zones; default true. */
  readonly allowTransfer?: boolean;
  /** Default `nsd`. */
  readonly kind?: NameserverKind;
}

export interface Nameserver {
  readonly host: string;
  /** UDP and TCP. */
  readonly port: number;
  /** Zones that it serves already, with other text: it reads them again, in its own time. */
  reload(zones: Readonly<Record<string, string>>): Promise<void>;
  /** What the server has said so far. */
  log(): string;
  close(): Promise<void>;
}

const HOST = "127.0.0.1";
const START_MILLISECONDS = 20_000;
const STOP_MILLISECONDS = 5_000;
const ASK_MILLISECONDS = 1_000;
const POLL_MILLISECONDS = 50;

/** Another process may take the free port before the server does. */
const MAX_STARTS = 3;

/**
 * Starts a nameserver and waits until it answers for every zone.
 * @throws Error with the server's log, if it ends, or a zone is not served in time (a zone file that it refuses)
 */
export async function startNameserver(options: NameserverOptions): Promise<Nameserver> {
  for (let start = 1; ; start += 1) {
    try {
      return await startOnce(options);
    } catch (error) {
      if (start === MAX_STARTS || !/in use/i.test(String(error))) throw error;
    }
  }
}

async function startOnce(options: NameserverOptions): Promise<Nameserver> {
  const folder = await mkdtemp(join(tmpdir(), "tenon-nameserver-"));
  const port = await freePort();
  const files = await writeZones(folder, options.zones);
  const settings: Settings = { folder, port, files, allowTransfer: options.allowTransfer ?? true };
  const { command, flags, text } = PROGRAMS[options.kind ?? "nsd"](settings);
  await writeFile(join(folder, "server.conf"), text);
  // A group of its own: nsd serves from children.
  const child = spawn(command, [...flags, join(folder, "server.conf")], {
    // Where Debian has servers, which is not in everyone's path.
    env: { ...process.env, PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin` },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => output.push(String(chunk)));
  const log = (): string => output.join("");
  const close = closer(child, folder);
  const given = new AbortController();
  try {
    await Promise.race([answering(Object.keys(options.zones), port, given.signal), ended(child)]);
  } catch (error) {
    given.abort();
    await close();
    throw new Error(`${command}: ${error instanceof Error ? error.message : error}\n${log()}`);
  }
  const reload = async (zones: Readonly<Record<string, string>>): Promise<void> => {
    for (const [name, text] of Object.entries(zones)) await writeFile(files.get(name) ?? "", text);
    child.kill("SIGHUP");
  };
  return { host: HOST, port, reload, log, close };
}

interface Settings {
  readonly folder: string;
  readonly port: number;
  /** Zone name → path of its file. */
  readonly files: ReadonlyMap<string, string>;
  readonly allowTransfer: boolean;
}

interface Program {
  readonly command: string;
  /** All but the path of the configuration, which comes last. */
  readonly flags: readonly string[];
  readonly text: string;
}

const PROGRAMS: Readonly<Record<NameserverKind, (settings: Settings) => Program>> = {
  nsd: (settings) => ({ command: "nsd", flags: ["-d", "-c"], text: nsdText(settings) }),
  knot: (settings) => ({ command: "knotd", flags: ["-c"], text: knotText(settings) }),
  bind: (settings) => ({ command: "named", flags: ["-g", "-c"], text: bindText(settings) }),
};

function nsdText({ folder, port, files, allowTransfer }: Settings): string {
  const transfer = allowTransfer ? `  provide-xfr: ${HOST} NOKEY\n` : "";
  const zones = [...files].map(([name, file]) => `zone:\n  name: "${name}"\n  zonefile: "${file}"\n${transfer}`);
  return `server:
  ip-address: ${HOST}@${port}
  server-count: 1
  username: ""
  zonesdir: "${folder}"
  database: ""
  pidfile: ""
  zonelistfile: "${folder}/zone.list"
  xfrdfile: "${folder}/xfrd.state"
  xfrdir: "${folder}"
remote-control:
  control-enable: no
${zones.join("")}`;
}

function knotText({ folder, port, files, allowTransfer }: Settings): string {
  const rule = allowTransfer ? "    acl: transfer\n" : "";
  const zones = [...files].map(([name, file]) => `  - domain: "${name}"\n    file: "${file}"\n${rule}`);
  return `server:
  rundir: "${folder}"
  listen: ${HOST}@${port}
log:
  - target: stderr
    any: info
database:
  storage: "${folder}/db"
control:
  listen: "${folder}/knot.sock"
acl:
  - id: transfer
    address: ${HOST}
    action: transfer
template:
  - id: default
    storage: "${folder}"
    zonefile-sync: -1
    journal-content: none
${zones.length === 0 ? "" : `zone:\n${zones.join("")}`}`;
}

function bindText({ folder, port, files, allowTransfer }: Settings): string {
  const zones = [...files].map(([name, file]) => `zone "${name}" { type primary; file "${file}"; };\n`);
  return `options {
  directory "${folder}";
  pid-file "${folder}/named.pid";
  session-keyfile "${folder}/session.key";
  listen-on port ${port} { ${HOST}; };
  listen-on-v6 { none; };
  allow-transfer { ${allowTransfer ? HOST : "none"}; };
  check-names primary ignore;
  recursion no;
  notify no;
};
controls { };
${zones.join("")}`;
}

async function writeZones(folder: string, zones: Readonly<Record<string, string>>): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const [index, [name, text]] of Object.entries(zones).entries()) {
    const file = join(folder, `${index}.zone`);
    await writeFile(file, text);
    files.set(name, file);
  }
  return files;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, HOST);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function ended(child: ChildProcess): Promise<never> {
  const [code, signal] = await once(child, "exit");
  throw new Error(`ended with ${code ?? signal}`);
}

async function answering(zones: readonly string[], port: number, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + START_MILLISECONDS;
  for (const zone of zones.length === 0 ? ["."] : zones) {
    for (;;) {
      const rcode = await askSoa(zone, port);
      if (rcode === "NOERROR" || (zones.length === 0 && rcode !== null)) break;
      if (Date.now() > deadline) throw new Error(`does not serve ${zone}: ${rcode ?? "no answer"}`);
      await delay(POLL_MILLISECONDS, undefined, { signal });
    }
  }
}

/** @returns the answer's code, or null if there was none */
async function askSoa(zone: string, port: number): Promise<string | null> {
  const socket = connect({ host: HOST, port, timeout: ASK_MILLISECONDS });
  socket.on("timeout", () => socket.destroy());
  try {
    socket.write(dnsPacket.streamEncode({ type: "query", id: 1, questions: [{ type: "SOA", name: zone }] }));
    let received = Buffer.alloc(0);
    for await (const chunk of socket) {
      received = Buffer.concat([received, chunk as Buffer]);
      // The response code is there before its name has a type (dns-packet's `rcode`).
      if (received.length >= 6) return RCODES[received.readUInt8(5) & 0xf] ?? "OTHER";
    }
    return null;
  } catch {
    return null;
  } finally {
    socket.destroy();
  }
}

const RCODES = ["NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"];

function closer(child: ChildProcess, folder: string): () => Promise<void> {
  const signal = (name: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, name);
    } catch {
      // The group is gone already.
    }
  };
  const killNow = (): void => signal("SIGKILL");
  process.once("exit", killNow);
  return async () => {
    process.off("exit", killNow);
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
      const exit = once(child, "exit");
      signal("SIGTERM");
      const timer = setTimeout(killNow, STOP_MILLISECONDS);
      await exit;
      clearTimeout(timer);
    }
    killNow();
    await rm(folder, { recursive: true, force: true });
  };
}
