/** A fleet file → the accounts of the fleet, each with all that a run of it needs to know, or every error there is in it. */

import { stat } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { checkBaseUrl, isDialect, NEUTRAL_DIALECT, SERVICES, serviceAt, serviceCalled } from "../api/index.ts";
import { isWithin, type LinkLead, linkText, whereNamedLinkLeads } from "../files/paths.ts";
import { compiledSchema } from "../files/schemas.ts";
import { arrange } from "../manifest/assemble.ts";
import { readManifest } from "../manifest/files.ts";
import { Budget, Scales } from "../manifest/limits.ts";
import { Places } from "../manifest/positions.ts";
import { coerceScalars, validateTree } from "../manifest/validate.ts";
import { type Diagnostic, hasErrors, Sources, type Span } from "../model/diagnostic.ts";
import { isJsonObject, type Json, type JsonObject } from "../model/resource.ts";
import { shellWord } from "../model/text.ts";
import { concealTokens } from "./literal-tokens.ts";
import { FLEET_SCHEMA } from "./schema.ts";
import { TokenHosts } from "./token-hosts.ts";

export const FLEET_FILE = "fleet.yaml";

/** The most accounts of a fleet. */
export const MAX_ACCOUNTS = 10_000;

export interface Fleet {
  /** The fleet file's folder, absolute. */
  readonly folder: string;
  /** In the order of the file. */
  readonly accounts: readonly FleetAccount[];
}

export interface FleetAccount {
  readonly name: string;
  /** The project's folder or root file, absolute. */
  readonly project: string;
  /** null: none of the project's environments. */
  readonly environment: string | null;
  readonly variables: Readonly<Record<string, string>>;
  /** As `checkBaseUrl` returned it; "": nobody says where the service is, which is so in a list of the accounts only. */
  readonly baseUrl: string;
  readonly dialect: string;
  /** null: it is not known which account the token is of. */
  readonly account: string | null;
  readonly token: TokenSource;
  readonly labels: Readonly<Record<string, string>>;
}

/** Where a token is. A file's path is absolute. */
export type TokenSource = { readonly env: string } | { readonly file: string };

export interface LoadedFleet {
  /** null if there are errors. */
  readonly fleet: Fleet | null;
  /** "request": there is no such file. */
  readonly fault: "file" | "request" | null;
  readonly diagnostics: readonly Diagnostic[];
  readonly sources: Sources;
}

/** Where accounts are of which the file does not say it: both may be empty. */
export interface ServiceFallback {
  readonly service: string;
  readonly baseUrl: string;
}

export interface FleetOptions {
  /**
   * `send`: each account's token is sent to its service, whose host must be one that may get tokens. `check`: nothing is sent. `list`: nothing
   * is sent, and nobody need say where the services are.
   */
  readonly purpose?: "send" | "check" | "list";
  /** As `parseTokenHosts` returns them: hosts that may get tokens, beside those of known services, of this machine and of the base URL of `ServiceFallback`. */
  readonly tokenHosts?: readonly string[];
}

/** @param path of the file, or of the folder that holds a `fleet.yaml` */
export async function fleetFileAt(path: string): Promise<string> {
  return (await stat(path).catch(() => null))?.isDirectory() === true ? join(path, FLEET_FILE) : path;
}

/**
 * Of an account's project, and of its token's file, the one that a link leads to which Tenon does not follow: a checkout may have brought one
 * since the fleet file was read.
 * @returns a clause that says so; null: there is none
 */
export async function findLinked({ project, token }: FleetAccount, folder: string): Promise<string | null> {
  const named = ["file" in token && isOfCheckout(token.file, folder) ? token.file : [], project].flat();
  for (const path of named) {
    const led = await whereNamedLinkLeads(path, folder);
    if (led !== null) return linkText(relative(folder, path), led);
  }
  return null;
}

/** Where the operator keeps secrets, links are theirs. */
function isOfCheckout(path: string, folder: string): boolean {
  return [folder, process.cwd()].some((one) => isWithin(path, one));
}

/** @param path of the file, or of the folder that holds a `fleet.yaml` */
export async function loadFleet(
  path: string,
  fallback: ServiceFallback,
  { purpose = "send", tokenHosts = [] }: FleetOptions = {},
): Promise<LoadedFleet> {
  const sources = new Sources();
  const file = await fleetFileAt(path);
  const found = await stat(file).catch(() => null);
  if (found === null) return { fleet: null, fault: "request", diagnostics: [notThere(path)], sources };
  const led = await whereNamedLinkLeads(file);
  if (led !== null) return { fleet: null, fault: "file", diagnostics: [linked(file, led)], sources };
  const diagnostics: Diagnostic[] = [];
  const report = (diagnostic: Diagnostic): void => void diagnostics.push(diagnostic);
  const hosts = new TokenHosts(tokenHosts, fallback.baseUrl);
  const accounts = await readAccounts(resolve(file), sources, { fallback, purpose, hosts }, report);
  const isSound = accounts !== null && !hasErrors(diagnostics);
  return {
    fleet: isSound ? { folder: dirname(resolve(file)), accounts } : null,
    fault: isSound ? null : "file",
    diagnostics: arrange(diagnostics, sources.files()),
    sources,
  };
}

function notThere(path: string): Diagnostic {
  return {
    code: "fleet-missing",
    severity: "error",
    summary: `there is no fleet file: ${path === "." ? FLEET_FILE : path}`,
    detail: "",
    fix: "Name one, or the folder that holds a fleet.yaml.",
  };
}

/** What a link leads to is not shown, nor taken for a token or a project. */
export function linked(path: string, led: LinkLead): Diagnostic {
  return {
    code: "symbolic-link",
    severity: "error",
    summary: linkText(path, led),
    detail: "Tenon does not follow it, because its content could appear in output or be sent.",
    fix: "Name the place itself.",
  };
}

/** What decides where tokens go. */
interface Services {
  readonly fallback: ServiceFallback;
  readonly purpose: NonNullable<FleetOptions["purpose"]>;
  readonly hosts: TokenHosts;
}

const LISTED: Services = {
  fallback: { service: "", baseUrl: "" },
  purpose: "list",
  hosts: new TokenHosts([], ""),
};

const FLEET_KIND = { noun: "A fleet file", start: "fleet: 1", keys: "`fleet`, `defaults` and `accounts`" };

async function readAccounts(
  path: string,
  sources: Sources,
  services: Services,
  report: (diagnostic: Diagnostic) => void,
): Promise<FleetAccount[] | null> {
  const places = new Places();
  const context = { kind: FLEET_KIND, places, budget: new Budget("fleet"), report };
  const file = await readManifest(path, basename(path), sources, context);
  if (file?.tree == null || file.damaged) return null;
  coerceScalars(file.tree, FLEET_SCHEMA, places);
  return checkAccounts(file.tree, { folder: dirname(path), services, places, sources, report });
}

interface CheckOptions {
  /** The fleet file's folder, absolute. */
  readonly folder: string;
  /** Default: nothing is sent, and where the services are is known only where the fleet is run. */
  readonly services?: Services;
  readonly places: Places;
  /** Without the tokens that stand in the file, afterwards. */
  readonly sources: Sources;
  readonly report: (diagnostic: Diagnostic) => void;
}

/** @param tree of a fleet file; what is wrong in it is taken out */
export async function checkAccounts(tree: JsonObject, options: CheckOptions): Promise<FleetAccount[]> {
  const { places, report } = options;
  concealTokens(tree, options);
  const validate = await compiledSchema(FLEET_SCHEMA, "all");
  const incomplete = validateTree(tree, { schema: FLEET_SCHEMA, validate }, places, report);
  const entries = (Array.isArray(tree["accounts"]) ? tree["accounts"] : []).filter(isJsonObject);
  const tooMany = entries[MAX_ACCOUNTS];
  if (tooMany !== undefined) report(tooManyAccounts(places.span(tree["accounts"] as object, MAX_ACCOUNTS)));
  const reading = new AccountReader(options, tree["defaults"] ?? {});
  const accounts = entries.slice(0, MAX_ACCOUNTS).flatMap((entry) => {
    const account = reading.read(entry, incomplete.has(entry));
    return account === null ? [] : [account];
  });
  await reading.checkLinks();
  return accounts;
}

function tooManyAccounts(span: Span): Diagnostic {
  const detail = `A fleet may have ${MAX_ACCOUNTS.toLocaleString("en")} accounts; those after are not read.`;
  const fix = "Divide the fleet into several files.";
  return { code: "too-many-accounts", severity: "error", summary: "too many accounts", detail, fix, span };
}

function unknownService(name: string): Diagnostic {
  const detail = `Known services: ${SERVICES.map((one) => one.name).join(", ")}.`;
  const fix = "Write one of them, or `base_url`.";
  return { code: "unknown-service", severity: "error", summary: `unknown service ${name}`, detail, fix };
}

type Address = Pick<FleetAccount, "baseUrl" | "dialect">;

function textsIn(value: Json | undefined): Record<string, string> {
  if (!isJsonObject(value ?? null)) return {};
  const pairs = Object.entries(value as JsonObject);
  return Object.fromEntries(pairs.filter((pair): pair is [string, string] => typeof pair[1] === "string"));
}

class AccountReader {
  readonly #folder: string;
  readonly #services: Services;
  readonly #defaults: JsonObject;
  /** What the defaults have of each. */
  readonly #shared: Readonly<Record<"variables" | "labels", Readonly<Record<string, string>>>>;
  readonly #places: Places;
  readonly #report: (diagnostic: Diagnostic) => void;
  readonly #named: Map<string, JsonObject> = new Map();
  /** Of each path in the checkout that the file names, its first place. */
  readonly #paths: Map<string, { readonly holder: JsonObject; readonly key: string }> = new Map();
  /** Whoever has a base URL whose host may get no token: each is reported once. */
  readonly #untrusted: Set<JsonObject> = new Set();
  /** Of the variables and labels of all accounts: those of the defaults count for each account, as it is listed with them. */
  readonly #budget: Budget = new Budget("fleet");
  readonly #scales: Scales = new Scales();
  readonly #sharedCosts: Partial<Record<"variables" | "labels", number>> = {};
  #isFallbackReported = false;

  constructor({ folder, services = LISTED, places, report }: CheckOptions, defaults: Json) {
    this.#folder = folder;
    this.#services = services;
    this.#places = places;
    this.#report = report;
    this.#defaults = isJsonObject(defaults) ? defaults : {};
    this.#shared = { variables: textsIn(this.#defaults["variables"]), labels: textsIn(this.#defaults["labels"]) };
  }

  /** @param isIncomplete a key was wrong or is missing, which is reported: nothing is said of what the entry lacks */
  read(entry: JsonObject, isIncomplete: boolean): FleetAccount | null {
    const name = entry["name"];
    if (typeof name === "string") this.#checkName(name, entry);
    const project = this.#text(entry, "project");
    if (project === null && !isIncomplete) {
      const detail = "An account needs a project, here or under `defaults`.";
      this.#error(entry, "missing-key", "`project` is missing", detail, "Add `project: ./project`.");
    }
    const address = this.#address(entry, isIncomplete);
    const token = isJsonObject(entry["token"]) ? this.#token(entry["token"]) : null;
    if (project !== null) this.#remember(project, Object.hasOwn(entry, "project") ? entry : this.#defaults, "project");
    if (typeof name !== "string" || project === null || address === null || token === null) return null;
    return {
      name,
      project: resolve(this.#folder, project),
      environment: this.#text(entry, "environment"),
      variables: this.#texts(entry, "variables"),
      ...address,
      account: this.#text(entry, "account"),
      token,
      labels: this.#texts(entry, "labels"),
    };
  }

  #remember(path: string, holder: JsonObject, key: string): void {
    const full = resolve(this.#folder, path);
    if (!this.#paths.has(full)) this.#paths.set(full, { holder, key });
  }

  /** A checkout may have brought links, for projects and for files of tokens. */
  async checkLinks(): Promise<void> {
    for (const [path, { holder, key }] of this.#paths) {
      const led = await whereNamedLinkLeads(path, this.#folder);
      const shown = relative(this.#folder, path);
      if (led !== null) this.#report({ ...linked(shown, led), span: this.#places.span(holder, key) });
    }
  }

  #checkName(name: string, entry: JsonObject): void {
    const first = this.#named.get(name);
    if (first === undefined) {
      this.#named.set(name, entry);
      return;
    }
    this.#report({
      code: "duplicate-account",
      severity: "error",
      summary: `two accounts are called ${name}`,
      detail: "A run, a report and a lock are known by the account's name.",
      fix: "Give one of them another name.",
      span: this.#places.span(entry, "name"),
      related: [{ message: "the first one", span: this.#places.span(first, "name") }],
    });
  }

  /** Of the account itself, or else of the defaults: a service there does not conflict with a base URL here. */
  #address(entry: JsonObject, isIncomplete: boolean): Address | null {
    const own = ["service", "base_url"].some((key) => Object.hasOwn(entry, key));
    const holder = own ? entry : this.#defaults;
    const [service, baseUrl] = [holder["service"], holder["base_url"]];
    if (typeof service === "string" && typeof baseUrl === "string") {
      const detail = "A service has an address of its own.";
      return this.#error(
        holder,
        "conflicting-keys",
        "both `service` and `base_url`",
        detail,
        "Remove one.",
        "base_url",
      );
    }
    if (typeof service === "string") return this.#known(service, entry, holder);
    if (typeof baseUrl === "string") return this.#given(baseUrl, entry, holder);
    const implied = this.#implied(entry);
    if (implied !== "none") return implied;
    if (isIncomplete) return null;
    if (this.#services.purpose === "list") return this.#withDialect("", entry, NEUTRAL_DIALECT);
    const detail = "An account needs to say where its service is: here, under `defaults`, or in TENON_SERVICE.";
    return this.#error(entry, "missing-key", "`service` or `base_url` is missing", detail, "Add `service: linode`.");
  }

  /** Of the environment. What is wrong there is reported once, without a place. */
  #implied(entry: JsonObject): Address | "none" | null {
    const { service, baseUrl } = this.#services.fallback;
    if (service === "" && baseUrl === "") return "none";
    const known = serviceCalled(service);
    const checked = checkBaseUrl(baseUrl === "" ? known?.baseUrl : baseUrl);
    if (checked.ok) return this.#withDialect(checked.url, entry, serviceAt(checked.url)?.dialect ?? NEUTRAL_DIALECT);
    if (!this.#isFallbackReported) this.#report(baseUrl === "" ? unknownService(service) : checked.diagnostic);
    this.#isFallbackReported = true;
    return null;
  }

  #known(name: string, entry: JsonObject, holder: JsonObject): Address | null {
    const service = serviceCalled(name);
    if (service !== null) return this.#withDialect(service.baseUrl, entry, service.dialect);
    this.#report({ ...unknownService(name), span: this.#places.span(holder, "service") });
    return null;
  }

  #given(text: string, entry: JsonObject, holder: JsonObject): Address | null {
    const checked = checkBaseUrl(text);
    if (checked.ok) {
      this.#checkHost(checked.url, holder);
      return this.#withDialect(checked.url, entry, serviceAt(checked.url)?.dialect ?? NEUTRAL_DIALECT);
    }
    const { code, summary, detail } = checked.diagnostic;
    const fix = "Write the service's address, for example https://api.example.com/v4.";
    return this.#error(holder, code, summary, detail, fix, "base_url");
  }

  /** The run ends before anything is sent if there is one error. */
  #checkHost(baseUrl: string, holder: JsonObject): void {
    const { purpose, hosts } = this.#services;
    if (purpose !== "send" || hosts.allow(baseUrl) || this.#untrusted.has(holder)) return;
    this.#untrusted.add(holder);
    const { host } = new URL(baseUrl);
    const detail =
      "Whoever changes the fleet file would choose where tokens of this machine go. They go to known services, to this machine, to the host of TENON_BASE_URL, and to hosts that are named outside of the file.";
    const fix = `If ${host} may have them, give --token-host ${shellWord(host)}, or set TENON_TOKEN_HOSTS.`;
    this.#error(holder, "token-host", `no token may be sent to ${host}`, detail, fix, "base_url");
  }

  #withDialect(baseUrl: string, entry: JsonObject, implied: string): Address | null {
    const dialect = this.#text(entry, "dialect") ?? implied;
    if (isDialect(dialect)) return { baseUrl, dialect };
    const holder = Object.hasOwn(entry, "dialect") ? entry : this.#defaults;
    return this.#error(
      holder,
      "dialect-invalid",
      "the dialect is not a word",
      "",
      "Write one such as node.",
      "dialect",
    );
  }

  #token(token: JsonObject): TokenSource | null {
    const { env, file } = token;
    if (typeof env === "string") return { env };
    if (typeof file !== "string") return null;
    const path = resolve(this.#folder, file);
    if (isOfCheckout(path, this.#folder)) this.#remember(path, token, "file");
    return { file: path };
  }

  #text(entry: JsonObject, key: string): string | null {
    const value = entry[key] ?? this.#defaults[key];
    return typeof value === "string" ? value : null;
  }

  /** What the defaults have and the entry has, by name. Accounts that say nothing themselves share what the defaults have. */
  #texts(entry: JsonObject, key: "variables" | "labels"): Readonly<Record<string, string>> {
    const [shared, own] = [this.#shared[key], textsIn(entry[key])];
    this.#sharedCosts[key] ??= this.#costOf(shared);
    const cost = this.#sharedCosts[key] + this.#costOf(own);
    if (!this.#budget.take(cost, () => this.#places.firstKeySpan(entry), this.#report)) return {};
    return entry[key] === undefined ? shared : { ...shared, ...own };
  }

  #costOf(texts: Readonly<Record<string, string>>): number {
    return this.#scales.weigh(Object.entries(texts).flat());
  }

  #error(holder: JsonObject, code: string, summary: string, detail: string, fix: string, key?: string): null {
    const span = key === undefined ? this.#places.firstKeySpan(holder) : this.#places.span(holder, key);
    this.#report({ code, severity: "error", summary, detail, ...(fix === "" ? {} : { fix }), span });
    return null;
  }
}
