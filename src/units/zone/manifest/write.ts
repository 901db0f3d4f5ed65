/** A zone's spec as the manifest entry that declares it. */

import type { JsonObject } from "../../../model/resource.ts";
import type { WrittenEntry } from "../../../model/unit.ts";
import { noteOf, stated } from "../../written.ts";
import type { RecordSpec, ZoneSpec } from "../shape.ts";
import { isNamed } from "../values.ts";
import { writeCreateFrom } from "./create-from.ts";

export function writeZone({ domain, fields, records, ignore, policy, createFrom, lintOff }: ZoneSpec): WrittenEntry {
  const body: JsonObject = {
    ...fields,
    ...(createFrom === null ? {} : { create_from: writeCreateFrom(createFrom) }),
    ...(policy === "additive" ? { records_policy: policy } : {}),
    ...(ignore.length === 0 ? {} : { ignore: ignore.map((pattern) => ({ ...pattern })) }),
    ...lintOf(lintOff),
    ...(records === null ? {} : { records: records.map(writeRecord) }),
  };
  return { head: { domain }, body };
}

/** A target that is a name is absolute, so it is written with its final dot. */
function writeRecord({
  type,
  name,
  target,
  ttl_sec,
  priority,
  weight,
  port,
  tag,
  note,
  lintOff,
}: RecordSpec): JsonObject {
  return {
    type,
    ...(name === "" ? {} : { name }),
    ...stated({ tag }),
    target: isNamed(type) ? `${target}.` : target,
    ...stated({ priority, weight, port }),
    ...(ttl_sec === 0 ? {} : { ttl_sec }),
    ...noteOf(note),
    ...lintOf(lintOff),
  };
}

function lintOf(off: readonly string[]): JsonObject {
  return off.length === 0 ? {} : { lint: { off: [...off] } };
}
