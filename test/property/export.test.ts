/** For any zone: what an export writes for other tools is read back to the same records. */

import { rm } from "node:fs/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { absoluteName, nameProblem } from "../../src/dns/name.ts";
import type { DnsRecord } from "../../src/dns/record.ts";
import { exportProject } from "../../src/export/index.ts";
import type { Desired } from "../../src/index.ts";
import type { ZoneSpec } from "../../src/units/zone/spec.ts";
import { folder } from "../manifest/support.ts";
import { loadFolder } from "../support/account.ts";
import { importFiles, written } from "../support/imports.ts";
import { plainRecords, ZONE } from "./zone-file-records.ts";

const RUNS = Math.ceil(Number(process.env["TENON_PROPERTY_RUNS"] ?? 500) / 5);

/** Records that the service holds beside each other: an alias stands alone, as does what says that there is none, and a set has one TTL. */
function acceptable(records: readonly DnsRecord[]): DnsRecord[] {
  const names = records.map(({ name }) => name);
  const isAlone = ({ name }: DnsRecord) => names.indexOf(name) === names.lastIndexOf(name);
  return records
    .filter((record) => record.type !== "CNAME" || (record.name !== "" && isAlone(record)))
    .filter((record) => record.target !== "" || isAlone(record))
    .filter(({ name }) => nameProblem(absoluteName(name, ZONE), false) === null)
    .map((record) => ({ ...record, ttl_sec: record.name.length % 2 === 0 ? 300 : 86_400 }));
}

function declares(records: readonly DnsRecord[]): Desired {
  const span = { file: "", start: 0, end: 0 };
  const spec: ZoneSpec = {
    domain: ZONE,
    fields: { type: "master", status: "active", soa_email: `hostmaster@${ZONE}` },
    records: records.map((record) => ({ ...record, span, note: null, lintOff: [] })),
    ...{ ignore: [], policy: "authoritative", createFrom: null, lintOff: [] },
  };
  const identity = { unit: "zone", address: `domain/${ZONE}`, key: ZONE, id: null, movedFrom: null };
  const declared = [{ ...identity, protect: false, note: null, span, spec }];
  return { owner: null, account: null, declared, removed: [], allow: [], lintOff: [] };
}

function keys(records: readonly DnsRecord[] | null | undefined): string[] {
  const texts = (records ?? []).map(({ type, name, target, ttl_sec, priority, weight, port, tag }) =>
    JSON.stringify([name, type, target, ttl_sec, priority, weight, port, tag]),
  );
  return texts.sort();
}

async function exported(records: readonly DnsRecord[], format: "octodns" | "zone") {
  const zones = { nameservers: ["ns1.example.net"], serial: 1, nowMilliseconds: 0 };
  const result = await exportProject({ desired: declares(records), format, account: null, zones, projectPath: "" });
  if (!result.ok) throw new Error("nothing is read that could fail");
  return result;
}

async function readBack(file: string, text: string, from: "octodns" | "zone"): Promise<string[]> {
  const root = folder({ [file]: text });
  const paths = [from === "octodns" ? root : `${root}/${file}`];
  const result = await importFiles(from, paths, {
    domain: ZONE,
    soaEmail: `hostmaster@${ZONE}`,
    skipUnsupported: true,
  });
  const out = await written(result);
  const { desired, diagnostics } = await loadFolder(out);
  await rm(out, { recursive: true });
  if (desired === null) throw new Error(JSON.stringify(diagnostics));
  return keys((desired.declared[0]?.spec as ZoneSpec | undefined)?.records);
}

// The name servers of the apex belong to who serves the zone: an import leaves them out.
const isOwn = ({ type, name }: DnsRecord) => type !== "NS" || name !== "";

test.each(["octodns", "zone"] as const)(
  "what is written for %s comes back the same, or is told",
  {
    timeout: 120_000,
  },
  async (format) => {
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(plainRecords.map(acceptable), async (records) => {
        fc.pre(records.some(isOwn));
        const { files, leftOut, notes } = await exported(records, format);
        const [file] = files;
        const lost = [...leftOut, ...notes].length;
        const wanted = keys(records.filter(isOwn));
        const got = await readBack(file?.file ?? "", file?.text ?? "", format);
        compared += got.length;
        if (lost === 0) expect(got).toEqual(wanted);
        else expect(wanted).toEqual(expect.arrayContaining(got));
      }),
      { numRuns: RUNS },
    );
    expect(compared).toBeGreaterThan(RUNS);
  },
);
