import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LOOK_AGAIN_AFTER_SECONDS } from "../../src/model/api.ts";
import type { Kind } from "../../src/model/resource.ts";
import { createRecord, lookup, plan, RECORDS, request } from "./support/plans.ts";
import { applyTo, DrainClock, outcomes, QuickClock } from "./support/run.ts";
import { type Call, Service, type Twist } from "./support/service.ts";

let service: Service;
beforeEach(async () => {
  service = await Service.start();
});
afterEach(() => service.stop());

/** The first POST meets this, the others nothing unusual. */
function firstPost(twist: Twist): (call: Call) => Twist | null {
  return (call) => (call.method === "POST" && call.nth === 0 ? twist : null);
}

const RECORD_LIST = RECORDS.join("/");
const EQUAL = { type: "A", name: "www", target: "192.0.2.1" };

function createOf(kind: Kind, list: string): ReturnType<typeof request> {
  const body = { label: "x" };
  return request("x", { method: "POST", path: [list], body, lookup: lookup(kind, [list], body) });
}

describe("a POST of unknown outcome", () => {
  test("is adopted when it had happened", async () => {
    service.twist = firstPost({ type: "lose-answer" });
    const { report, events } = await applyTo(
      service,
      plan([createRecord("www"), request("after", { after: ["www"] })]),
    );
    expect(service.callsOf("POST")).toHaveLength(1);
    expect(report.steps[0]).toMatchObject({ outcome: "done", id: 101, recovered: true });
    expect(outcomes(report)).toEqual({ www: "done", after: "done" });
    expect(report).toMatchObject({ added: 2, notices: [], requestCount: 4 });
    const notes = events.filter((event) => event.type === "step-note").map((event) => event.note);
    expect(notes).toEqual(["outcome-unknown", "looking", "adopted"]);
  });

  test("gives later steps the fields of what is adopted", async () => {
    service.twist = firstPost({ type: "lose-answer" });
    const body = { domain: "example.com" };
    const fields = { id: "id" };
    const create = request("create", {
      method: "POST",
      path: ["domains"],
      body,
      lookup: lookup("domain", ["domains"], body),
      produces: { ref: "d", fields },
    });
    const path = ["domains", { ref: "d", field: "id" }];
    const { report } = await applyTo(service, plan([create, request("activate", { path, after: ["create"] })]));
    expect(outcomes(report)).toEqual({ create: "done", activate: "done" });
    expect(service.callsOf("PUT")).toEqual(["domains/101"]);
  });

  test("is repeated once when two looks find nothing, and looked up again at the end", async () => {
    service.twist = firstPost({ type: "lose" });
    const { report } = await applyTo(service, plan([createRecord("www")]));
    expect(service.calls.map((call) => call.method)).toEqual(["POST", "GET", "GET", "POST", "GET"]);
    expect(service.list(RECORDS)).toHaveLength(1);
    expect(report.steps[0]).toMatchObject({ outcome: "done", id: 101, recovered: false });
    expect(report).toMatchObject({ notices: [], requestCount: 5 });
  });

  test("is looked for at once, and waited for only between the looks", async () => {
    const waitedAtLooks: number[][] = [];
    const clock = new QuickClock();
    service.twist = (call) => {
      if (call.method === "GET") waitedAtLooks.push([...clock.sleeps]);
      return call.method === "POST" && call.nth === 0 ? { type: "lose" } : null;
    };
    await applyTo(service, plan([createRecord("www")]), { clock });
    const wait = LOOK_AGAIN_AFTER_SECONDS * 1000;
    // Before the repeat: one look at once, one after a wait. Then the look at the end.
    expect(waitedAtLooks).toEqual([[], [wait], [wait]]);
  });

  test("is found by the second look when it was committed late", async () => {
    service.twist = (call) => {
      if (call.method === "POST") return { type: "lose" };
      if (call.nth === 1) service.add(RECORDS, EQUAL);
      return null;
    };
    const { report } = await applyTo(service, plan([createRecord("www")]));
    expect(report.steps[0]).toMatchObject({ outcome: "done", id: 101, recovered: true });
    expect(service.callsOf("POST")).toHaveLength(1);
  });

  test("is unknown when the looks fail, and nothing is repeated", async () => {
    service.twist = (call) =>
      call.method === "POST" ? { type: "lose-answer" } : { type: "answer", status: 500, text: '{"errors":[]}' };
    const { report } = await applyTo(service, plan([createRecord("www"), request("after", { after: ["www"] })]));
    expect(outcomes(report)).toEqual({ www: "unknown", after: "skipped" });
    expect(service.callsOf("POST")).toHaveLength(1);
    expect(report.unknown).toBe(1);
  });

  test("is unknown without a lookup", async () => {
    service.twist = firstPost({ type: "lose" });
    const { report } = await applyTo(service, plan([createRecord("www", { lookup: null })]));
    expect(outcomes(report)).toEqual({ www: "unknown" });
    expect(service.calls).toHaveLength(1);
  });

  test.each([
    ["is not JSON", "<html>"],
    ["is cut in half", '{"id": 1'],
    ["is not an object", "[]"],
    ["lacks the fields that were to come", "{}"],
  ])("is looked up when the answer %s", async (_, text) => {
    service.twist = firstPost({ type: "instead", status: 200, text });
    const { report } = await applyTo(
      service,
      plan([createRecord("www", { produces: { ref: "www", fields: { id: "id" } } })]),
    );
    expect(report.steps[0]).toMatchObject({ outcome: "done", id: 101, recovered: true });
    expect(service.list(RECORDS)).toHaveLength(1);
  });

  test.each(["{}", '{"id":null}', '{"id":{}}'])(
    "is looked up when the answer %s has no id, though no step needs it",
    async (text) => {
      service.twist = firstPost({ type: "instead", status: 200, text });
      const { report } = await applyTo(service, plan([createRecord("www")]));
      expect(report.steps[0]).toMatchObject({ outcome: "done", id: 101, recovered: true });
      expect(service.list(RECORDS)).toHaveLength(1);
    },
  );

  test("is not looked up when the service refused it", async () => {
    service.twist = firstPost({ type: "answer", status: 400, text: '{"errors":[{"reason":"no"}]}' });
    const { report } = await applyTo(service, plan([createRecord("www")]));
    expect(outcomes(report)).toEqual({ www: "failed" });
    expect(service.calls).toHaveLength(1);
  });

  test("is not taken for what another step of the run made", async () => {
    service.twist = (call) => (call.method === "POST" && call.nth === 1 ? { type: "lose" } : null);
    const second = createRecord("second", { body: { ...EQUAL }, after: ["www"] });
    const twin = { ...second, lookup: lookup("domain_record", RECORDS, EQUAL) };
    const { report } = await applyTo(service, plan([createRecord("www"), twin]));
    expect(report.steps.map((step) => [step.id, step.recovered])).toEqual([
      [101, false],
      [102, false],
    ]);
    expect(service.list(RECORDS)).toHaveLength(2);
  });

  test("is adopted when its repetition is refused because the first was carried out", async () => {
    service.twist = (call) => {
      if (call.method !== "POST") return null;
      if (call.nth === 0) return { type: "lose" };
      service.add(["vpcs"], { label: "x" });
      return {
        type: "answer",
        status: 400,
        text: '{"errors":[{"field":"label","reason":"Label must be unique among your VPCs"}]}',
      };
    };
    const { report } = await applyTo(service, plan([createOf("vpc", "vpcs")]));
    expect(report.steps[0]).toMatchObject({ outcome: "done", id: 101, recovered: true });
    expect(report.notices).toEqual([]);
  });

  test("is unknown when its repetition is lost as well", async () => {
    service.twist = (call) => (call.method === "POST" ? { type: "lose" } : null);
    const { report } = await applyTo(service, plan([createRecord("www")]));
    expect(outcomes(report)).toEqual({ www: "unknown" });
    expect(service.callsOf("POST")).toHaveLength(2);
  });

  test("takes the first of equal records, but none of equal VPCs", async () => {
    service.twist = (call) => {
      if (call.method !== "POST") return null;
      service.add(call.path, JSON.parse(call.body));
      return { type: "lose-answer" };
    };
    const record = await applyTo(service, plan([createRecord("www")]));
    expect(record.report.steps[0]).toMatchObject({ outcome: "done", id: 101 });
    expect(record.report.notices).toEqual([expect.stringContaining("equal records: 101, 102")]);
    expect(record.report.duplicates).toBe(1);
    const vpc = await applyTo(service, plan([createOf("vpc", "vpcs")]));
    expect(outcomes(vpc.report)).toEqual({ x: "unknown" });
    expect(vpc.report.notices).toEqual([expect.stringContaining("103 or 104")]);
    expect(service.callsOf("DELETE")).toEqual([]);
  });

  test("that made an image whose URL is lost is deleted and sent again", async () => {
    service.twist = firstPost({ type: "lose-answer" });
    const body = { label: "golden", region: "us-east" };
    const create = request("create", {
      unit: "image",
      method: "POST",
      path: ["images", "upload"],
      body,
      lookup: lookup("image", ["images"], { label: "golden" }),
      produces: { ref: "image/golden", fields: { id: "image.id", upload_to: "upload_to" } },
    });
    const { report } = await applyTo(service, plan([create]));
    expect(service.callsOf("DELETE")).toEqual(["images/private/101"]);
    expect(service.list(["images"]).map((image) => image["id"])).toEqual(["private/102"]);
    expect(report.steps[0]).toMatchObject({ outcome: "done", id: "private/102" });
    // The repeated one is pending as well, and it is ours: the look at the end leaves it alone.
    expect(report.notices).toEqual([]);
  });
});

describe("a POST that is carried out after it was repeated", () => {
  /** The first POST is lost, and committed when the list is read for the last time. */
  function commitLate(list: readonly string[], fields: { readonly [key: string]: string }): void {
    service.twist = (call) => {
      if (call.method === "POST" && call.nth === 0) return { type: "lose" };
      if (call.method === "GET" && call.nth === 2) service.add(list, fields);
      return null;
    };
  }

  test("is deleted if it is a record", async () => {
    commitLate(RECORDS, EQUAL);
    const { report, events } = await applyTo(service, plan([createRecord("www")]));
    expect(service.list(RECORDS).map((record) => record["id"])).toEqual([101]);
    expect(service.callsOf("DELETE")).toEqual([`${RECORD_LIST}/102`]);
    expect(report.notices).toEqual(["www was carried out twice: record 102 equals 101 and was deleted"]);
    expect(report).toMatchObject({ added: 1, requestCount: 6 });
    expect(events.at(-1)).toMatchObject({ type: "step-note", note: "deleting-duplicate" });
  });

  test("is deleted before its zone is copied, and told once", async () => {
    commitLate(RECORDS, EQUAL);
    const usual = service.twist;
    const copied: unknown[][] = [];
    service.twist = (call) => {
      if (call.path.at(-1) === "clone") copied.push(service.list(RECORDS).map((record) => record["id"]));
      return usual(call);
    };
    const clone = request("clone", { method: "POST", path: ["domains", "1", "clone"], after: ["mail"] });
    const { report } = await applyTo(
      service,
      plan([createRecord("www"), createRecord("mail", { after: ["www"] }), clone]),
    );
    expect(copied).toEqual([[101, 102]]);
    expect(service.callsOf("DELETE")).toEqual([`${RECORD_LIST}/103`]);
    expect(report.notices).toEqual(["www was carried out twice: record 103 equals 101 and was deleted"]);
  });

  describe("and is to be copied with its zone", () => {
    const clone = (id: string) =>
      request(id, { method: "POST", path: ["domains", "1", "clone"], after: ["www"], changes: [id] });
    const steps = [createRecord("www"), clone("one"), clone("two"), clone("three")];
    const clones = () => service.callsOf("POST").filter((path) => path.endsWith("clone"));

    test("is looked for once before all copies, and once at the end", async () => {
      commitLate(RECORDS, EQUAL);
      await applyTo(service, plan(steps));
      expect(clones()).toHaveLength(3);
      // Two after the lost answer.
      expect(service.callsOf("GET")).toHaveLength(4);
    });

    test("is copied no more if the run was stopped during the look", async () => {
      const interrupt = new AbortController();
      commitLate(RECORDS, EQUAL);
      const usual = service.twist;
      service.twist = (call) => {
        if (call.method === "GET" && call.nth === 2) interrupt.abort();
        return usual(call);
      };
      const options = { signal: interrupt.signal, clock: new DrainClock(interrupt.signal) };
      const { report, events } = await applyTo(service, plan(steps), options);
      expect(report.interrupted).toBe(true);
      expect(clones()).toEqual([]);
      // They were never begun: nothing about them failed.
      expect(outcomes(report)).toEqual({ www: "done", one: "skipped", two: "skipped", three: "skipped" });
      expect(report).toMatchObject({ failed: 0, skipped: 3 });
      expect(events.filter(({ type }) => type === "step-failed")).toEqual([]);
    });
  });

  test("is kept if it is the older one, so that of two runs that find each other's record one is left", async () => {
    service.twist = (call) => {
      if (call.method === "POST" && call.nth === 0) return { type: "lose" };
      if (call.method === "GET" && call.nth === 2) service.list(RECORDS).unshift({ ...EQUAL, id: 50 });
      return null;
    };
    const { report } = await applyTo(service, plan([createRecord("www")]));
    expect(service.list(RECORDS).map((record) => record["id"])).toEqual([50]);
    expect(report.notices).toEqual(["www was carried out twice: record 101 equals 50 and was deleted"]);
  });

  test("is left to the next plan if the run was stopped meanwhile", async () => {
    const interrupt = new AbortController();
    commitLate(RECORDS, EQUAL);
    const usual = service.twist;
    service.twist = (call) => {
      if (call.method === "GET" && call.nth === 2) interrupt.abort();
      return usual(call);
    };
    const options = { signal: interrupt.signal, clock: new DrainClock(interrupt.signal) };
    const { report } = await applyTo(service, plan([createRecord("www")]), options);
    expect(service.callsOf("DELETE")).toEqual([]);
    expect(report.notices).toEqual([expect.stringContaining("the next plan removes it")]);
  });

  test("is left alone if it says something else", async () => {
    commitLate(RECORDS, { ...EQUAL, target: "192.0.2.99" });
    const { report } = await applyTo(service, plan([createRecord("www")]));
    expect(service.callsOf("DELETE")).toEqual([]);
    expect(report.notices).toEqual([]);
  });

  test.each([
    ["vpc", "vpcs"],
    ["domain", "domains"],
    ["image", "images"],
  ] as const)("is reported and never deleted if it is a %s", async (kind, list) => {
    commitLate([list], { label: "x" });
    const { report } = await applyTo(service, plan([createOf(kind, list)]));
    expect(service.callsOf("DELETE")).toEqual([]);
    expect(service.list([list])).toHaveLength(2);
    expect(report.notices).toEqual([expect.stringMatching(/101, (private\/)?102|private\/101, private\/102/)]);
  });

  test("is reported when the list cannot be read again", async () => {
    service.twist = (call) => {
      if (call.method === "POST" && call.nth === 0) return { type: "lose" };
      return call.method === "GET" && call.nth === 2 ? { type: "answer", status: 500, text: "{}" } : null;
    };
    const { report } = await applyTo(service, plan([createRecord("www")]));
    expect(outcomes(report)).toEqual({ www: "done" });
    const unchecked = " was sent twice; Tenon could not check whether both requests were carried out: ";
    expect(report.notices).toEqual([expect.stringContaining(unchecked)]);
  });

  test("is reported when it was sent once, and nobody can see whether another run sent it too", async () => {
    service.twist = (call) => (call.method === "GET" ? { type: "answer", status: 500, text: "{}" } : null);
    const { report } = await applyTo(service, plan([createRecord("www")]));
    expect(outcomes(report)).toEqual({ www: "done" });
    const unchecked = "Tenon could not check whether another run made the same: ";
    expect(report.notices).toEqual([expect.stringMatching(`^www: ${unchecked}`)]);
  });

  test("shares one list with the other repeated records of its zone", async () => {
    const repeated = new Set<string>();
    service.twist = (call) => {
      if (call.method !== "POST" || repeated.has(call.body)) return null;
      repeated.add(call.body);
      return { type: "lose" };
    };
    const steps = Array.from({ length: 20 }, (_, index) => createRecord(`r${index}`));
    const { report } = await applyTo(service, plan(steps));
    expect(report.added).toBe(20);
    expect(service.callsOf("GET")).toHaveLength(41);
    expect(service.list(RECORDS)).toHaveLength(20);
  });
});
