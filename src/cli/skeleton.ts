/** The files of a new project: a root file with comments, what git is to ignore, and a pipeline from examples/ci. */

import { domainToASCII } from "node:url";
import { MANIFEST_SCHEMA, readPackageFile } from "../files/package-files.ts";

export interface SkeletonOptions {
  readonly domains: readonly string[];
  /** null: hostmaster of the first domain. */
  readonly soaEmail: string | null;
  readonly owner: string | null;
  /** Of Tenon. */
  readonly version: string;
}

/**
 * A manifest that changes no record: the domains are named, and their records are left alone. The network stands first, as a comment behind
 * an entry is indented like the entry's by `tenon fmt`.
 */
export function rootFileText({ domains, soaEmail, owner, version }: SkeletonOptions): string {
  const [first = "example.com"] = domains;
  return `# yaml-language-server: $schema=${MANIFEST_SCHEMA}
# What the account is to hold: \`tenon plan\` shows what would change, \`tenon apply\` does it. \`tenon import --into .\` adds what is there.
tenon: 1
requires: "${requiredRange(version)}" # the versions of Tenon that may run this
${owner === null ? OWNER_LATER : `${OWNER}owner: ${scalar(owner)}\n`}
${NETWORK}
${domains.length === 0 ? domainsLater(first) : domainsText(domains, soaEmail ?? `hostmaster@${domainToASCII(first) || first}`)}`;
}

const OWNER =
  "# What Tenon makes or adopts carries this owner's tag; with the tag and no longer declared, it is to be deleted.\n";
const OWNER_LATER = `${OWNER}# owner: edge\n`;

function domainsText(domains: readonly string[], soaEmail: string): string {
  const [first, ...others] = domains.map(scalar);
  return `defaults:
  domain: { type: master, soa_email: ${scalar(soaEmail)} }

domains:
  - domain: ${first}
    # Without \`records\` those of the domain are left alone. With them, what is not declared here goes.
    # records:
    #   - { type: A, name: www, targets: [192.0.2.10, 192.0.2.11] }
    #   - { type: MX, target: mx.example.net., priority: 10 }
${others.map((name) => `  - domain: ${name}\n`).join("")}`;
}

function domainsLater(name: string): string {
  return `# domains:
#   - domain: ${name}
#     type: master
#     soa_email: hostmaster@${name}
#     records:
#       - { type: A, name: www, targets: [192.0.2.10, 192.0.2.11] }
`;
}

const NETWORK = `# vpcs:
#   - label: prod
#     region: us-east
#     subnets:
#       - { label: web, ipv4: 10.0.1.0/24 }
`;

/** From this version up to the next that may break what stands. */
function requiredRange(version: string): string {
  const [major = "0", minor = "0"] = version.split(".");
  return `>=${major}.${minor} <${Number(major) + 1}`;
}

const PLAIN = /^[\p{L}\p{N}][\p{L}\p{N}._@-]*$/u;
/** What a version of YAML takes for something else than text. */
const RESERVED = /^(?:null|true|false|yes|no|on|off|y|n|[\d._e-]+|0[box].*)$/i;

function scalar(text: string): string {
  return PLAIN.test(text) && !RESERVED.test(text) ? text : JSON.stringify(text);
}

export const IGNORED_LINES: readonly string[] = ["node_modules/", ".tenon/", "tenon-*/", "*.plan"];

export const GIT_IGNORE: string = `# Journals of applies, what pipelines hand on, and saved plans: they show parts of the account.
${IGNORED_LINES.join("\n")}
`;

// The pipelines of examples/ci.

export type Pipeline = "github" | "gitlab";

const EXAMPLES = "examples/ci";
const SCRIPTS: readonly string[] = [
  ...["apply.sh", "check.sh", "common.sh", "drift.sh", "github.mjs", "gitlab.mjs"],
  ...["install.sh", "live.sh", "lock.mjs", "plan.sh"],
];
const DEFINITIONS: Readonly<Record<Pipeline, readonly (readonly [from: string, to: string])[]>> = {
  github: ["tenon-apply.yml", "tenon-drift.yml", "tenon-plan.yml"].map((name) => [
    `github/workflows/${name}`,
    `.github/workflows/${name}`,
  ]),
  gitlab: [["gitlab/.gitlab-ci.yml", ".gitlab-ci.yml"]],
};

interface PipelineOptions {
  /** From the root of the repository; `.` is that itself. */
  readonly project: string;
  /** null: the address and the dialect are left for a person to fill in. */
  readonly service: { readonly baseUrl: string; readonly dialect: string } | null;
}

/** @returns files by their path from the root of the repository */
export function pipelineFiles(
  pipeline: Pipeline,
  { project, service }: PipelineOptions,
): { readonly file: string; readonly text: string }[] {
  const settings = {
    PROJECT:
      project === "."
        ? project
        : project.split("/").every((part) => scalar(part) === part)
          ? project
          : JSON.stringify(project),
    ...(service === null ? {} : { TENON_BASE_URL: service.baseUrl, TENON_DIALECT: service.dialect }),
  };
  const definitions = DEFINITIONS[pipeline].map(([from, to]) => {
    let text = readPackageFile(`${EXAMPLES}/${from}`);
    for (const [name, value] of Object.entries(settings)) {
      text = text.replace(new RegExp(`^(  ${name}: ).*$`, "m"), (_, key: string) => `${key}${value}`);
    }
    return { file: to, text };
  });
  const scripts = SCRIPTS.map((name) => ({
    file: `ci/tenon/${name}`,
    text: readPackageFile(`${EXAMPLES}/scripts/${name}`),
  }));
  return [...definitions, ...scripts];
}
