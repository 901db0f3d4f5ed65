import { expect, test } from "vitest";
import { codes, declaredZone, loadText, zone } from "./support.ts";

async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

/** The best of three, so that a pause of the machine does not count. */
async function best(work: () => Promise<unknown>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 3; run += 1) least = Math.min(least, await milliseconds(work));
  return least;
}

function inline(count: number): string {
  return zone(
    ...Array.from(
      { length: count },
      (_, index) => `type: A, name: host-${index}, target: 10.0.${index >> 8}.${index & 255}, ttl_sec: 300`,
    ),
  );
}

function shared(domains: number): string {
  const names = Array.from({ length: domains }, (_, index) => `d${index}.example`).join(", ");
  const records = Array.from({ length: 12 }, (_, index) => `{ type: TXT, name: t${index}, target: "x \${zone}" }`).join(
    ", ",
  );
  return `defaults: { domain: { type: master, soa_email: "a@\${zone}" } }\nrecord_sets: { s: [${records}] }\ndomains: [{ domain: [${names}], use: [s] }]\n`;
}

test("12,000 inline records load whole, one more is refused", async () => {
  const result = await loadText(inline(12_000));
  expect(result.diagnostics).toEqual([]);
  expect(declaredZone(result).spec.records).toHaveLength(12_000);
  expect(codes(await loadText(inline(12_001)))).toEqual(["too-many-records"]);
});

test("four times the records take no more than some four times as long", async () => {
  const [few, many] = [await best(() => loadText(inline(1_500))), await best(() => loadText(inline(6_000)))];
  expect(many / few).toBeLessThan(10);
});

test("four times the domains of a record set take no more than some four times as long", async () => {
  const [few, many] = [await best(() => loadText(shared(500))), await best(() => loadText(shared(2_000)))];
  expect(many / few).toBeLessThan(10);
  expect((await loadText(shared(1_000))).project?.desired.declared).toHaveLength(1_000);
});

test("thousands of errors are all reported, in linear time", async () => {
  const bad = (count: number): string =>
    zone(...Array.from({ length: count }, (_, index) => `type: A, name: n${index}, bogus: 1, target: nope`));
  const result = await loadText(bad(3_000));
  expect(codes(result).filter((code) => code === "unknown-key")).toHaveLength(3_000);
  expect(codes(result).filter((code) => code === "bad-address")).toHaveLength(3_000);
  const [few, many] = [await best(() => loadText(bad(500))), await best(() => loadText(bad(2_000)))];
  expect(many / few).toBeLessThan(10);
});

test("a set of many records for many domains is refused before it fills the memory", async () => {
  const records = Array.from({ length: 1_001 }, (_, index) => `{ type: TXT, name: t${index}, target: x }`).join(", ");
  const names = Array.from({ length: 1_000 }, (_, index) => `d${index}.example`).join(", ");
  const text = `defaults: { domain: { type: master, soa_email: a@b.example } }\nrecord_sets: { s: [${records}] }\ndomains: [{ domain: [${names}], use: [s] }]\n`;
  expect(codes(await loadText(text))).toEqual(["too-many-records"]);
}, 60_000);
