import { describe, expect, test } from "vitest";
import { noticeOf } from "../../src/apply/perform.ts";
import type { Answer, Failure } from "../../src/model/api.ts";
import type { Change } from "../../src/model/change.ts";
import type { JsonObject } from "../../src/model/resource.ts";
import type { Unit } from "../../src/model/unit.ts";
import { units } from "../../src/units/index.ts";
import { change, createRecord, lookup, request } from "./support/plans.ts";

const [network, zone, image] = (["network", "zone", "image"] as const).map((name) =>
  units.find((unit) => unit.name === name),
) as [Unit, Unit, Unit];

function refused(status: number, ...errors: Failure["errors"]): Answer {
  const failure = {
    type: "refused",
    effect: "none",
    status,
    errors,
    message: "no",
    maintenance: false,
    attempts: 1,
  } as const;
  return { ok: false, failure };
}

function answered(body: JsonObject): Answer {
  return { ok: true, body };
}

const RECORD: Change = change("www", {
  action: "update",
  before: { type: "A", name: "www", target: "192.0.2.1", ttl_sec: 300 },
  after: { type: "A", name: "www", target: "192.0.2.2", ttl_sec: 300 },
});
const PUT = request("update www", { body: { target: "192.0.2.2" } });
const WIRE = { id: 1, type: "A", name: "www", target: "192.0.2.2", ttl_sec: 300 };

describe("what an apply notices", () => {
  test("is a DELETE that finds nothing, but not one whose lost attempt may have been why", () => {
    const step = request("delete www", { method: "DELETE", body: null });
    const gone = "delete www: it was gone already, deleted by somebody else since the plan";
    expect(noticeOf(step, undefined, { ok: true, body: {}, alreadyGone: true }, zone)).toBe(gone);
    expect(noticeOf(step, undefined, answered({}), zone)).toBeNull();
  });

  test("is a PUT of what is gone, and a POST into what is gone", () => {
    expect(noticeOf(PUT, RECORD, refused(404), zone)).toMatch(
      /^update www: the object that it was to change is gone: .*; plan again$/,
    );
    const post = createRecord("create www");
    expect(noticeOf(post, undefined, refused(404), zone)).toMatch(
      /^create www: the object in which, or from which, it was to be made is gone/,
    );
  });

  test("is not a 404 to what can only be missing with the service, nor one that is no answer of the service", () => {
    expect(noticeOf(request("a", { method: "POST", path: ["vpcs"] }), undefined, refused(404), network)).toBeNull();
    const page = refused(404) as Extract<Answer, { ok: false }>;
    const malformed = { ok: false, failure: { ...page.failure, type: "malformed" } } as const;
    expect(noticeOf(PUT, RECORD, malformed, zone)).toBeNull();
  });

  test.each([
    [
      "domain",
      zone,
      request("a", { method: "POST", path: ["domains"], lookup: lookup("domain", ["domains"], {}) }),
      "domain",
      "DNS zone already exists.",
      "the domain exists by now",
    ],
    [
      "record",
      zone,
      createRecord("a"),
      "name",
      "Record conflict - CNAMES must be unique",
      "a record stands in its way",
    ],
    [
      "subnet",
      network,
      request("a", { method: "POST", path: ["vpcs", "1", "subnets"] }),
      "ipv4",
      "Subnet overlaps with another subnet of this VPC",
      "since the plan was made, another subnet has taken part of its range",
    ],
    [
      "label",
      network,
      request("a", { path: ["vpcs", "1"] }),
      "label",
      "Label must be unique among your VPCs",
      "its label has been taken",
    ],
  ] as const)("is a %s that somebody else was quicker to make", (_, unit, step, field, reason, clause) => {
    expect(noticeOf(step, undefined, refused(400, { field, reason }), unit)).toContain(`a: ${clause}`);
    expect(noticeOf(step, undefined, refused(400, { field, reason: "is not valid" }), unit)).toBeNull();
    expect(noticeOf(step, undefined, refused(403, { field, reason }), unit)).toBeNull();
  });

  test("is a record that somebody else has changed, in a field that the PUT leaves alone", () => {
    expect(noticeOf(PUT, RECORD, answered(WIRE), zone)).toBeNull();
    expect(noticeOf(PUT, RECORD, answered({ ...WIRE, ttl_sec: 3600 }), zone)).toBe(
      "update www: somebody else changed it since the plan: ttl_sec is 3600, not 300; plan again",
    );
    expect(noticeOf(PUT, RECORD, answered({ id: 1 }), zone)).toBeNull();
  });

  test("is a domain found changed; tags in another order, what the answer leaves out, and what the PUT sets are not", () => {
    const before = {
      domain: "example.com",
      owner: null,
      status: "active",
      description: "a",
      tags: ["x", "y"],
      ttl_sec: 0,
    };
    const adopted = change("domain/example.com", {
      kind: "domain",
      before,
      after: { ...before, owner: "edge", tags: ["x", "y"] },
    });
    const step = request("update domain/example.com", { path: ["domains", "1"], body: { ttl_sec: 300 } });
    const wire = { id: 1, domain: "example.com", status: "active", tags: ["y", "x"], ttl_sec: 300 };
    expect(noticeOf(step, adopted, answered(wire), zone)).toBeNull();
    const told = noticeOf(step, adopted, answered({ ...wire, status: "disabled", description: "b" }), zone);
    expect(told).toContain('description is "b", not "a", status is "disabled", not "active"');
  });

  test("is a VPC, subnet or image found changed", () => {
    const put = (path: string[], body: JsonObject) => request("a", { path, body });
    const vpc = { label: "prod", region: "us-east", description: "Main", owner: "edge" };
    const renamed = change("vpc/prod", { kind: "vpc", before: vpc, after: { ...vpc, label: "main" } });
    const wire = { label: "main", region: "us-east", description: "Other [tenon:edge]" };
    expect(noticeOf(put(["vpcs", "1"], { label: "main" }), renamed, answered(wire), network)).toContain(
      'description is "Other"',
    );
    const subnet = change("s", {
      kind: "vpc_subnet",
      before: { label: "a", ipv4: "10.0.0.0/24" },
      after: { label: "b", ipv4: "10.0.0.0/24" },
    });
    const moved = { label: "b", ipv4: "10.0.1.0/24" };
    expect(noticeOf(put(["vpcs", "1", "subnets", "2"], { label: "b" }), subnet, answered(moved), network)).toContain(
      "ipv4 is",
    );
    const values = { label: "golden", description: "a", owner: null };
    const relabelled = change("i", { kind: "image", before: values, after: { ...values, label: "silver" } });
    const shown = { label: "silver", description: "a [tenon:other]" };
    expect(noticeOf(put(["images", "private/1"], { label: "silver" }), relabelled, answered(shown), image)).toContain(
      'owner is "other", not null',
    );
  });
});
