/** What Terraform and OpenTofu wrote → its resources: a state of version 4, or the JSON that `terraform show -json` prints of a state or of a plan. */

import type { Diagnostic, Sources, Span } from "../model/diagnostic.ts";
import { entryAt, itemsAt, type JsonValue, readJsonSource, spanOf, textAt } from "./json-source.ts";

/** One instance of a resource, with `count` or `for_each` one of several. */
export interface TerraformResource {
  readonly file: string;
  /** `module.net["eu"].linode_vpc.prod[0]` */
  readonly address: string;
  readonly type: string;
  readonly isData: boolean;
  /** As the file names it: `provider["registry.terraform.io/linode/linode"].eu`, or without what stands around the quotes. */
  readonly provider: string;
  /** Of the attributes; undefined: there are none. */
  readonly attributes: JsonValue | undefined;
  /** Attributes that hold, or are, a value that is marked sensitive. */
  readonly sensitive: ReadonlySet<string>;
  /** An object that Terraform has replaced already, and failed to delete. */
  readonly isDeposed: boolean;
  /** Terraform would replace it at the next apply. */
  readonly isTainted: boolean;
  readonly span: Span;
}

export interface FileContext {
  readonly sources: Sources;
  report(diagnostic: Diagnostic): void;
}

const COMMANDS = "`terraform show -json > state.json` or `terraform state pull > terraform.tfstate`";
const NAME_STATE = `Name the file that ${COMMANDS} writes; OpenTofu's \`tofu\` has the same commands.`;

/** Configuration, which says what is wanted and knows no ids; a folder has nothing else. */
const CONFIGURATION = /\.(tf|tofu|tfvars|hcl)(\.json)?$/i;

/** @returns none if the file cannot be used; why is reported */
export async function readTerraformFile(path: string, context: FileContext): Promise<readonly TerraformResource[]> {
  const { sources, report } = context;
  if (CONFIGURATION.test(path)) {
    report(wrongFile(path, "a configuration", "The import reads what Terraform made, not what it is to make."));
    return [];
  }
  const source = await readJsonSource(path, { sources, showsTexts: false, advice: NAME_STATE });
  if (!source.ok) {
    report(source.diagnostic);
    return [];
  }
  const { value } = source;
  const refusal = refusalOf(path, value);
  if (refusal !== null) {
    report(refusal);
    return [];
  }
  const reader = new ResourceReader(path, context);
  if (entryAt(value, "format_version") === undefined) reader.state(value);
  else reader.shown(value);
  return reader.resources;
}

function wrongFile(path: string, what: string, detail: string): Diagnostic {
  return { code: "wrong-file", severity: "error", summary: `${path} is ${what}`, detail, fix: NAME_STATE };
}

/** Why a JSON file is none that can be read; null if it is. */
function refusalOf(file: string, value: JsonValue): Diagnostic | null {
  const span = spanOf(file, { start: value.start, end: value.start + 1 });
  const refuse = (code: string, summary: string, detail: string, fix = NAME_STATE): Diagnostic => {
    return { code, severity: "error", summary: `${file} ${summary}`, detail, fix, span };
  };
  const [version, format] = [entryAt(value, "version"), entryAt(value, "format_version")];
  if (entryAt(value, "encrypted_data") !== undefined) {
    const fix = "Let OpenTofu decrypt it: `tofu show -json > state.json`, and delete that file afterwards.";
    return refuse("no-terraform", "is an encrypted state", "Only OpenTofu has its key.", fix);
  }
  if (entryAt(value, "dns_providers") !== undefined) {
    const fix = "Import it with --from dnscontrol.";
    return refuse("no-terraform", "was not written by Terraform", "It looks like DNSControl's.", fix);
  }
  if (format?.kind === "text") {
    if (!/^[01]\./.test(format.text)) {
      const detail = `Its format_version is ${format.text}, and 0 and 1 are known.`;
      return { ...refuse("unknown-format-version", "has an unknown format", detail), span: spanOf(file, format) };
    }
    const isPlan = ["planned_values", "resource_changes"].some((key) => entryAt(value, key) !== undefined);
    if (isPlan && entryAt(entryAt(value, "prior_state"), "values") === undefined) {
      const detail =
        "The import takes what a plan found (`prior_state`), not what it would make, which has no ids yet.";
      const fix = "Apply it first, or import the live account.";
      return refuse("no-terraform", "is a plan for an empty state", detail, fix);
    }
    if (entryAt(value, "provider_schemas") === undefined) return null;
  }
  if (version?.kind === "number" && ["resources", "modules", "lineage"].some((key) => entryAt(value, key))) {
    if (version.number === 4) return null;
    const isPointer = entryAt(value, "backend") !== undefined;
    const detail = isPointer
      ? "It only says where the state is: in a backend."
      : `It is of version ${version.number}, and version 4 is read, which Terraform writes since 0.12, and OpenTofu.`;
    const fix =
      version.number < 4 && !isPointer
        ? "Let a newer Terraform write it anew: `terraform apply -refresh-only`, then `terraform show -json > state.json`."
        : "Name the file that `terraform show -json > state.json` writes.";
    const found = refuse("unknown-format-version", "is no state that can be read", detail, fix);
    return { ...found, span: spanOf(file, version) };
  }
  return refuse("no-terraform", "is neither a state of Terraform nor what `terraform show -json` prints", "");
}

class ResourceReader {
  readonly resources: TerraformResource[] = [];
  readonly #file: string;
  readonly #context: FileContext;

  constructor(file: string, context: FileContext) {
    this.#file = file;
    this.#context = context;
  }

  state(state: JsonValue): void {
    for (const resource of this.#list(state, "resources")) {
      const [type, name] = [this.#text(resource, "type"), this.#text(resource, "name")];
      if (type === null || name === null) continue;
      const module = textAt(resource, "module");
      const isData = textAt(resource, "mode") === "data";
      const base = `${module === undefined ? "" : `${module}.`}${isData ? "data." : ""}${type}.${name}`;
      for (const instance of this.#list(resource, "instances")) {
        this.resources.push({
          file: this.#file,
          address: `${base}${indexOf(entryAt(instance, "index_key"))}`,
          ...{ type, isData, provider: textAt(resource, "provider") ?? "" },
          attributes: entryAt(instance, "attributes"),
          sensitive: new Set(itemsAt(instance, "sensitive_attributes").flatMap(firstStep)),
          isDeposed: textAt(instance, "deposed") !== undefined,
          isTainted: textAt(instance, "status") === "tainted",
          span: this.#headOf(instance),
        });
      }
    }
  }

  /** Of a plan what it found: its `prior_state`. */
  shown(shown: JsonValue): void {
    const prior = entryAt(shown, "prior_state");
    const changes = itemsAt(shown, "resource_changes").filter(isChange);
    if (changes.length > 0) this.#context.report(pendingChanges(this.#file, changes.length));
    this.#module(entryAt(entryAt(prior ?? shown, "values"), "root_module"));
  }

  /** Modules are nested no deeper than the JSON may be. */
  #module(module: JsonValue | undefined): void {
    if (module === undefined) return;
    for (const resource of this.#list(module, "resources")) {
      const [type, address] = [this.#text(resource, "type"), this.#text(resource, "address")];
      if (type === null || address === null) continue;
      const sensitive = entryAt(resource, "sensitive_values");
      this.resources.push({
        ...{ file: this.#file, address, type },
        isData: textAt(resource, "mode") === "data",
        provider: textAt(resource, "provider_name") ?? "",
        attributes: entryAt(resource, "values"),
        sensitive: new Set(
          sensitive?.kind === "map"
            ? [...sensitive.entries].flatMap(([key, value]) => (holdsTrue(value) ? [key] : []))
            : [],
        ),
        isDeposed: textAt(resource, "deposed_key") !== undefined,
        isTainted: isTrue(entryAt(resource, "tainted")),
        span: this.#headOf(resource),
      });
    }
    for (const child of this.#list(module, "child_modules")) this.#module(child);
  }

  /** An absent list is empty; what is no list is reported. */
  #list(value: JsonValue, key: string): readonly JsonValue[] {
    const found = entryAt(value, key);
    if (found === undefined || (found.kind === "word" && found.word === null)) return [];
    if (found.kind === "list") return found.items;
    this.#context.report(badTerraform(`\`${key}\` is no list`, spanOf(this.#file, found)));
    return [];
  }

  #text(value: JsonValue, key: string): string | null {
    const found = entryAt(value, key);
    if (found?.kind === "text" && found.text !== "") return found.text;
    this.#context.report(badTerraform(`a resource has no \`${key}\``, spanOf(this.#file, found ?? value)));
    return null;
  }

  /** The first character: the whole of a resource is many lines. */
  #headOf({ start }: JsonValue): Span {
    return spanOf(this.#file, { start, end: start + 1 });
  }
}

export function badTerraform(summary: string, span: Span): Diagnostic {
  const detail = "Terraform does not write it so.";
  return { code: "bad-terraform", severity: "error", summary, detail, fix: "Let Terraform write the file anew.", span };
}

function pendingChanges(file: string, count: number): Diagnostic {
  return {
    code: "pending-changes",
    severity: "warning",
    summary: `${file} is a plan that would change ${count === 1 ? "a resource" : `${count} resources`}`,
    detail: "What is imported is what the plan found, without these changes.",
    fix: "Apply the plan and import again, or make the changes in the manifest.",
  };
}

function isChange(change: JsonValue): boolean {
  const actions = itemsAt(entryAt(change, "change"), "actions");
  return actions.some((action) => action.kind !== "text" || !["no-op", "read"].includes(action.text));
}

/** As Terraform's own lists show it: an index of `count` is a number, a key of `for_each` a text, in which `${` would be a reference. */
function indexOf(key: JsonValue | undefined): string {
  if (key?.kind === "number") return `[${key.number}]`;
  return key?.kind === "text" ? `[${JSON.stringify(key.text).replace(/([$%])\{/g, "$1$&")}]` : "";
}

/** A path of a state is a list of steps, the first of which is the attribute's name. */
function firstStep(path: JsonValue): string[] {
  const name = path.kind === "list" && path.items[0] !== undefined ? textAt(path.items[0], "value") : undefined;
  return name === undefined ? [] : [name];
}

function holdsTrue(value: JsonValue): boolean {
  if (value.kind === "list") return value.items.some(holdsTrue);
  if (value.kind === "map") return [...value.entries.values()].some(holdsTrue);
  return isTrue(value);
}

function isTrue(value: JsonValue | undefined): boolean {
  return value?.kind === "word" && value.word === true;
}
