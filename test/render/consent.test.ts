/** What apply would refuse: many of a kind are one refusal, with one consent to paste. */

import { expect, test } from "vitest";
import type { Guard, Plan } from "../../src/model/plan.ts";
import { globMatches } from "../../src/model/text.ts";
import { renderGuardsText, renderPlanMarkdown, renderPlanText } from "../../src/render/index.ts";
import { change, plan } from "./plans.ts";

const NAMES = Array.from({ length: 39 }, (_, index) => `parked-${index + 1}.example`);
const prunes = NAMES.map((domain) =>
  change(`domain/${domain}`, "domain", { before: { domain, owner: "me" }, labels: ["prune"] }),
);
const kept = ["www.example", "parked.example"].map((domain) =>
  change(`domain/${domain}`, "domain", { action: "no-op", before: { domain }, after: { domain } }),
);

function guard(rule: Guard["rule"], address: string, rest: Partial<Guard> = {}): Guard {
  return { rule, address, consent: "missing", count: null, of: null, origin: null, ...rest };
}

const missing = prunes.map(({ address }) => guard("delete", address));

test("39 prunes are one refusal with one glob, in text and in markdown", () => {
  const planned = plan([...prunes, ...kept], { guards: missing });
  expect(renderGuardsText(planned, { colour: false })).toBe(`Apply would refuse this plan:
  39 domains would be deleted: they carry our tag and are no longer declared
      --allow 'delete=domain/parked-*.example'
      or under allow: in the root file:  - { delete: 'domain/parked-*.example' }
`);
  expect(renderPlanMarkdown(planned).match(/--allow/g)).toHaveLength(1);
  expect(renderPlanText(planned, { colour: false }).match(/--allow/g)).toHaveLength(1);
});

test("no glob covers what stays: then there are several, each to be pasted", () => {
  const stays = change("domain/parked-40.example", "domain", { action: "no-op", before: {}, after: {} });
  const text = renderGuardsText(plan([...prunes, stays], { guards: missing }), { colour: false });
  const globs = [...text.matchAll(/--allow '?delete=([^'\n]+)/g)].map(([, glob]) => glob as string);
  expect(globs.length).toBeGreaterThan(1);
  expect(globs.length).toBeLessThan(15);
  const covers = (address: string) => globs.some((glob) => globMatches(glob, address));
  expect(missing.filter(({ address }) => !covers(address))).toEqual([]);
  expect(covers(stays.address)).toBe(false);
  for (const glob of globs) expect(text).toContain(`- { delete: ${glob.includes("*") ? `'${glob}'` : glob} }`);
});

test("a plan that does not know what else there is proposes no glob: a narrowed one, or an undo", () => {
  const journal = { file: "run.jsonl" } as NonNullable<Plan["inputs"]["journal"]>;
  for (const part of [{ targets: ["domain/*"] }, { changedSince: { ref: "main" } as never }, { journal }]) {
    const inputs = { ...plan([]).inputs, ...part };
    const text = renderGuardsText(plan(prunes, { guards: missing, inputs }), { colour: false });
    expect(text.match(/--allow delete=domain\/parked-\d+\.example\n/g)).toHaveLength(39);
    expect(text).not.toContain("*");
  }
});

test("in a comment a refusal of very many globs is cut, but there", () => {
  const names = Array.from({ length: 300 }, (_, index) => String.fromCharCode(0x4e00 + index * 2));
  const stays = names.map((name) => change(`image/${name}y`, "image", { action: "no-op", before: {}, after: {} }));
  const guards = names.flatMap((name) => ["x", "z"].map((end) => guard("delete", `image/${name}${end}`)));
  const text = renderPlanMarkdown(plan(stays, { guards }));
  expect(text).toContain("600 images would be deleted");
  expect(text).toContain("and 580 more, which tenon plan shows");
});

test("the environments that declare it are named in words that can be typed, many of them counted", () => {
  const told = (declaredUnder: string[], environment: string | null = "dev") => {
    const inputs = { ...plan([]).inputs, environment };
    const guards = [guard("delete", "image/a", declaredUnder.length === 0 ? {} : { declaredUnder })];
    return renderGuardsText(plan([], { guards, inputs }), { colour: false, width: 200 }).split("\n").slice(1, 3);
  };
  const says = (text: string) => `  image/a would be deleted: it carries our tag and is ${text}`;
  const advice = "      Give each environment its own owner, e.g. owner: edge-${var.env}";
  expect(told([])[0]).toBe(says("no longer declared"));
  expect(told(["prod"])).toEqual([says("declared with --env prod, not with --env dev"), advice]);
  expect(told(["a", "b", "c"])[0]).toBe(says("declared with --env a, --env b and --env c, not with --env dev"));
  expect(told(["a", "b", "c", "d", "e"], null)[0]).toBe(
    says("declared with --env a, --env b, --env c and 2 more, not without --env"),
  );
  expect(told(["it's prod"])[0]).toBe(says(`declared with --env 'it'"'"'s prod', not with --env dev`));
});

test("environments that nobody has looked at are counted, whether or not others declare it", () => {
  const told = (more: Partial<Guard>) => {
    const inputs = { ...plan([]).inputs, environment: "dev" };
    const guards = [guard("delete", "image/a", more)];
    return renderGuardsText(plan([], { guards, inputs }), { colour: false, width: 200 }).split("\n")[1];
  };
  const says = (text: string) => `  image/a would be deleted: it carries our tag and is ${text}`;
  expect(told({ uncheckedEnvironments: 979 })).toBe(
    says("no longer declared (979 other environments were not looked at)"),
  );
  expect(told({ declaredUnder: ["prod"], uncheckedEnvironments: 1 })).toBe(
    says("declared with --env prod, not with --env dev (1 other environment was not looked at)"),
  );
});

test("few are told one by one, and other kinds, rules and consents apart", () => {
  const guards = [
    ...missing.slice(0, 3),
    ...["a", "b", "c", "d"].map((label) => guard("replace", `vpc/v/subnet/${label}`)),
    ...["a", "b", "c", "d"].map((label) => guard("bulk", `vpc/${label}`, { count: 1, of: 3 })),
    ...["a", "b", "c", "d"].map((label) => guard("protect", `image/${label}`, { consent: "impossible" })),
  ];
  expect(renderGuardsText(plan([], { guards }), { colour: false, width: 200 })).toBe(`Apply would refuse this plan:
  domain/parked-1.example would be deleted: it carries our tag and is no longer declared
      --allow delete=domain/parked-1.example
      or under allow: in the root file:  - { delete: domain/parked-1.example }
  domain/parked-2.example would be deleted: it carries our tag and is no longer declared
      --allow delete=domain/parked-2.example
      or under allow: in the root file:  - { delete: domain/parked-2.example }
  domain/parked-3.example would be deleted: it carries our tag and is no longer declared
      --allow delete=domain/parked-3.example
      or under allow: in the root file:  - { delete: domain/parked-3.example }
  4 subnets would be deleted and made anew, with all that is in them
      --allow 'replace=vpc/v/subnet/*'
      or under allow: in the root file:  - { replace: 'vpc/v/subnet/*' }
  4 VPCs would lose much of what is in them: 4 of 12 subnets
      --allow 'bulk=vpc/*'
      or under allow: in the root file:  - { bulk: 'vpc/*' }
  4 images are protected; set their protect to false first
`);
});

test("a subnet that its VPC protects need not be declared to be let go", () => {
  const alike = ["a", "b", "c", "d"].map((label) => `vpc/w/subnet/${label}`);
  const guards = ["vpc/v", ...alike].map((address) => guard("protect", address, { consent: "impossible" }));
  const lone = [guard("protect", "vpc/v/subnet/web", { consent: "impossible" })];
  expect(renderGuardsText(plan([], { guards: lone }), { colour: false, width: 200 })).toContain(
    "vpc/v/subnet/web is protected; set protect to false first, of the subnet or of its VPC",
  );
  expect(renderGuardsText(plan([], { guards }), { colour: false, width: 200 })).toBe(`Apply would refuse this plan:
  vpc/v is protected; set its protect to false first
  4 subnets are protected; set their protect to false first, or that of their VPC
`);
});
