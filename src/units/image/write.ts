/** An image's spec as the manifest entry that declares it. */

import type { JsonObject } from "../../model/resource.ts";
import type { WrittenEntry } from "../../model/unit.ts";
import { stated } from "../written.ts";
import type { ImageSpec } from "./shape.ts";

export function writeImage({ label, description, source }: ImageSpec): WrittenEntry {
  return { head: { label }, body: { ...stated({ description }), ...writeSource(source) } };
}

function writeSource(source: ImageSpec["source"]): JsonObject {
  if (source === null) return {};
  const more = source.cloud_init ? { cloud_init: true } : {};
  switch (source.type) {
    case "upload":
      return { upload: { file: source.file, region: source.region, ...more } };
    case "capture":
      return { capture: { disk_id: source.disk_id, ...more } };
  }
}
