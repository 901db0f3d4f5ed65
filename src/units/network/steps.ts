/** The requests that carry out the changes of networks, and the facts that order them (API.md, VPCs, rules 1 to 3). */

import type { Address } from "../../model/address.ts";
import type { Change } from "../../model/change.ts";
import { groupBy } from "../../model/group.ts";
import type { JsonObject, ObjectId, Values } from "../../model/resource.ts";
import type { PathPart } from "../../model/step.ts";
import { type Claim, type Facts, NO_FACTS, type PlannedStep, type StepContext } from "../../model/unit.ts";
import { joinDescription } from "../ownership.ts";
import { request, type UnorderedRequest } from "../request.ts";
import { overlapSlots } from "./overlap.ts";
import { byRange } from "./recognise.ts";
import { type Relabel, temporaryLabel, throughTemporary } from "./relabel.ts";

export function networkSteps(changes: readonly Change[], context: StepContext): PlannedStep[] {
  const vpcs = changes.filter((change) => change.kind === "vpc");
  const subnets = groupBy(
    changes.filter((change) => change.kind === "vpc_subnet"),
    (change) => change.root,
  );
  const aside = throughTemporary(relabels(vpcs));
  return vpcs.flatMap((vpc) => {
    const own = subnets.get(vpc.root) ?? [];
    switch (vpc.action) {
      case "create":
        return [createVpc(vpc, own, null, context)];
      case "delete":
        return deleteVpc(vpc, own);
      case "replace": {
        const gone = deleteVpc(vpc, own);
        return [...gone, createVpc(vpc, own, gone.at(-1)?.step.id ?? null, context)];
      }
      case "update":
        return [...updateVpc(vpc, aside.has(vpc.key)), ...subnetSteps(vpc, own)];
      case "no-op":
        return subnetSteps(vpc, own);
    }
  });
}

function relabels(changes: readonly Change[]): Relabel[] {
  return changes
    .filter((change) => change.action === "update" && change.before?.["label"] !== change.after?.["label"])
    .map((change) => ({ key: change.key, from: text(change.before, "label"), to: text(change.after, "label") }));
}

/** A VPC with its subnets is one POST. */
function createVpc(
  vpc: Change,
  subnets: readonly Change[],
  replaces: string | null,
  context: StepContext,
): PlannedStep {
  const made = subnets.filter((subnet) => subnet.after !== null);
  const description = joinDescription(text(vpc.after, "description"), ownerOf(vpc.after));
  const wanted = made.map((subnet) => ({ label: text(subnet.after, "label"), ipv4: text(subnet.after, "ipv4") }));
  const body: JsonObject = {
    label: text(vpc.after, "label"),
    region: text(vpc.after, "region"),
    ...(description === "" ? {} : { description }),
    ...(wanted.length === 0 ? {} : { subnets: wanted }),
  };
  const step: UnorderedRequest = {
    ...request(vpc, `create ${vpc.address}`, "POST", ["vpcs"], body),
    changes: [vpc.key, ...made.map((subnet) => subnet.key)],
    produces: { ref: vpc.key, fields: { id: "id" } },
    lookup: {
      kind: "vpc",
      path: ["vpcs"],
      filter: { label: text(vpc.after, "label") },
      match: {
        label: text(vpc.after, "label"),
        region: text(vpc.after, "region"),
        description,
        subnets: byRange(wanted),
      },
      known: context.idsOf(text(vpc.after, "label")),
    },
  };
  return { step, facts: facts({ requires: replaces === null ? [] : [replaces], takes: [vpcLabel(vpc.after)] }) };
}

/** A look that nothing was added since it was planned, then one DELETE. */
function deleteVpc(vpc: Change, subnets: readonly Change[]): PlannedStep[] {
  const gone = subnets.filter((subnet) => subnet.before !== null);
  const path = ["vpcs", String(vpc.id)];
  const changes = [vpc.key, ...gone.map((subnet) => subnet.key)];
  const look: UnorderedRequest = {
    ...request(vpc, `check ${vpc.address}`, "GET", path, null),
    changes,
    expect: { subnets: gone.map((subnet) => subnet.id).sort((a, b) => Number(a) - Number(b)) },
  };
  const remove: UnorderedRequest = { ...request(vpc, `delete ${vpc.address}`, "DELETE", path, null), changes };
  return [
    { step: look, facts: NO_FACTS },
    { step: remove, facts: facts({ requires: [look.id], frees: [vpcLabel(vpc.before)] }) },
  ];
}

function updateVpc(vpc: Change, stepAside: boolean): PlannedStep[] {
  const { before, after } = vpc;
  const renamed = before?.["label"] !== after?.["label"];
  const redescribed = before?.["description"] !== after?.["description"] || before?.["owner"] !== after?.["owner"];
  const body: JsonObject = {
    ...(renamed ? { label: text(after, "label") } : {}),
    ...(redescribed ? { description: joinDescription(text(after, "description"), ownerOf(after)) } : {}),
  };
  const claims = renamed ? { takes: [vpcLabel(after)], frees: [vpcLabel(before)] } : {};
  return relabelling(vpc, ["vpcs", String(vpc.id)], body, claims, stepAside);
}

function subnetSteps(vpc: Change, subnets: readonly Change[]): PlannedStep[] {
  const aside = throughTemporary(relabels(subnets));
  const overlaps = overlapSlots(vpc.root, subnets);
  const path: PathPart[] = ["vpcs", String(vpc.id), "subnets"];
  return subnets.flatMap((subnet): PlannedStep[] => {
    const own = [...path, String(subnet.id)];
    const frees = [subnetLabel(vpc.root, subnet.before), ...(overlaps.frees.get(subnet.key) ?? [])];
    const takes = [subnetLabel(vpc.root, subnet.after), ...(overlaps.takes.get(subnet.key) ?? [])];
    switch (subnet.action) {
      case "no-op":
        return [];
      case "create":
        return [createSubnet(vpc, subnet, path, facts({ takes }))];
      case "delete":
        return [deleteSubnet(subnet, own, facts({ frees }))];
      case "replace": {
        const gone = deleteSubnet(subnet, own, facts({ frees }));
        return [gone, createSubnet(vpc, subnet, path, facts({ requires: [gone.step.id], takes }))];
      }
      case "update":
        return relabelling(
          subnet,
          own,
          { label: text(subnet.after, "label") },
          { takes, frees },
          aside.has(subnet.key),
        );
    }
  });
}

function createSubnet(vpc: Change, subnet: Change, path: readonly PathPart[], facts: Facts): PlannedStep {
  const body = { label: text(subnet.after, "label"), ipv4: text(subnet.after, "ipv4") };
  const step: UnorderedRequest = {
    ...request(subnet, `create ${subnet.key}`, "POST", path, body),
    produces: { ref: subnet.key, fields: { id: "id" } },
    lookup: {
      kind: "vpc_subnet",
      path: ["vpcs", String(vpc.id), "subnets"],
      filter: null,
      match: body,
      known: subnet.id === null ? [] : [subnet.id],
    },
  };
  return { step, facts };
}

function deleteSubnet(subnet: Change, path: readonly PathPart[], facts: Facts): PlannedStep {
  return { step: request(subnet, `delete ${subnet.key}`, "DELETE", path, null), facts };
}

/** One PUT; where labels swap, one more before it that frees the old label. */
function relabelling(
  change: Change,
  path: readonly PathPart[],
  body: JsonObject,
  claims: { takes?: readonly Claim[]; frees?: readonly Claim[] },
  stepAside: boolean,
): PlannedStep[] {
  const update = request(change, `update ${change.key}`, "PUT", path, body);
  if (!stepAside) return [{ step: update, facts: facts(claims) }];
  const aside = request(change, `set aside ${change.key}`, "PUT", path, {
    label: temporaryLabel(change.id as ObjectId),
  });
  return [
    { step: aside, facts: facts({ frees: claims.frees ?? [] }) },
    { step: update, facts: facts({ requires: [aside.id], takes: claims.takes ?? [] }) },
  ];
}

function vpcLabel(values: Values | null): Claim {
  return { slot: `vpc label ${text(values, "label")}`, exclusive: true };
}

function subnetLabel(root: Address, values: Values | null): Claim {
  return { slot: `${root} subnet label ${text(values, "label")}`, exclusive: true };
}

function facts(some: Partial<Facts>): Facts {
  return { ...NO_FACTS, ...some };
}

function text(values: Values | null, field: string): string {
  return String(values?.[field] ?? "");
}

function ownerOf(values: Values | null): string | null {
  const owner = values?.["owner"];
  return typeof owner === "string" ? owner : null;
}
