/** Opens a fleet file for a command, and for a worker again and again. */

import { realpath, stat } from "node:fs/promises";
import type { Fleet, FleetAccount, FleetOptions } from "../fleet/index.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import { sayDiagnostics, sayError } from "./messages.ts";
import type { Terminal } from "./terminal.ts";

export interface FleetFlags {
  readonly select?: readonly string[];
  readonly tokenHost?: readonly string[];
}

/** `all`: whether they are selected or not. */
export type OpenedFleet =
  | { readonly ok: true; readonly fleet: Fleet; readonly all: readonly FleetAccount[] }
  | { readonly ok: false; readonly code: ExitCode };

/** The fleet with the accounts that are selected: at least one. */
export async function openFleet(
  terminal: Terminal,
  file: string | undefined,
  { select = [], tokenHost = [] }: FleetFlags,
  purpose: NonNullable<FleetOptions["purpose"]>,
): Promise<OpenedFleet> {
  const { loadFleet, parseSelection, parseTokenHosts } = await import("../fleet/index.ts");
  const listed = parseTokenHosts([...tokenHost, terminal.environment["TENON_TOKEN_HOSTS"] ?? ""]);
  if (!listed.ok) {
    const summary = `--token-host and TENON_TOKEN_HOSTS do not take '${listed.part}'`;
    sayError(terminal, {
      code: "invalid-argument",
      summary,
      fix: "Write a host, such as api.example.com, or HOST:PORT.",
    });
    return { ok: false, code: EXIT.error };
  }
  const fallback = {
    service: terminal.environment["TENON_SERVICE"]?.trim() ?? "",
    baseUrl: terminal.environment["TENON_BASE_URL"]?.trim() ?? "",
  };
  const options = { purpose, tokenHosts: listed.hosts };
  const { fleet, fault, diagnostics, sources } = await loadFleet(file ?? ".", fallback, options);
  sayDiagnostics(terminal, diagnostics, sources);
  if (fleet === null) return { ok: false, code: fault === "request" ? EXIT.error : EXIT.invalid };
  const parsed = parseSelection(select);
  if (!parsed.ok) {
    const summary = `--select does not take '${parsed.part}'`;
    const [key = ""] = parsed.part.split("=");
    const isLabel = fleet.accounts.some(({ labels }) => Object.hasOwn(labels, key));
    const fix = isLabel ? `${key} is a label: write label.${parsed.part}.` : "Write name=GLOB or label.KEY=GLOB.";
    sayError(terminal, { code: "invalid-argument", summary, fix });
    return { ok: false, code: EXIT.error };
  }
  const accounts = fleet.accounts.filter(parsed.selection);
  if (accounts.length > 0) return { ok: true, fleet: { ...fleet, accounts }, all: fleet.accounts };
  const summary =
    select.length === 0 ? "the fleet has no accounts" : `no account fits --select ${select.join(" --select ")}`;
  const fix = select.length === 0 ? "Add accounts to the file." : "tenon fleet list shows names and labels.";
  sayError(terminal, { code: "nothing-selected", summary, fix });
  return { ok: false, code: EXIT.error };
}

/** A file that was written less than so long ago may be written once more within one tick of its file system's clock. */
const SETTLED_MILLISECONDS = 2_000;

/** The fleet file of a worker: read again whenever it is another one than before, and nobody else's tokens are sent than it names then. */
export class FleetSource {
  readonly #terminal: Terminal;
  readonly #file: string;
  readonly #flags: FleetFlags;
  #known: { readonly stamp: string; readonly opened: OpenedFleet } | null = null;

  constructor(terminal: Terminal, file: string | undefined, flags: FleetFlags) {
    this.#terminal = terminal;
    this.#file = file ?? ".";
    this.#flags = flags;
  }

  /** What is wrong is said each time. */
  async open(): Promise<OpenedFleet> {
    const before = await this.#stamp();
    if (before !== null && before === this.#known?.stamp) return this.#known.opened;
    const opened = await openFleet(this.#terminal, this.#file, this.#flags, "send");
    const isKept = opened.ok && before !== null && before === (await this.#stamp());
    this.#known = isKept ? { stamp: before, opened } : null;
    return opened;
  }

  /** Of the file as it is now; null: there is none that can be relied on. */
  async #stamp(): Promise<string | null> {
    const { fleetFileAt } = await import("../fleet/index.ts");
    const file = await fleetFileAt(this.#file);
    // The file may stay as it is and a link to it, or to its folder, lead to another one.
    const path = await realpath(file).catch(() => null);
    const found = await stat(file, { bigint: true }).catch(() => null);
    if (path === null || found === null || Date.now() - Number(found.ctimeMs) < SETTLED_MILLISECONDS) return null;
    const { dev, ino, size, mtimeNs, ctimeNs } = found;
    return [dev, ino, size, mtimeNs, ctimeNs, path].join(" ");
  }
}
