/** An image entry of a manifest → its declared image, with everything the service would refuse reported. */

import { imageAddress } from "../../model/address.ts";
import type { Declared } from "../../model/desired.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import type { Json, JsonObject } from "../../model/resource.ts";
import { isJsonObject } from "../../model/resource.ts";
import type { LoadContext } from "../../model/unit.ts";
import { joinDescription } from "../ownership.ts";
import type { ImageSource, ImageSpec } from "./shape.ts";

/** API.md, Limits: image description. */
const MAX_DESCRIPTION_LENGTH = 65_000;

/** @returns null if the entry has no label, or does not say how it is made */
export function loadImage(entry: JsonObject, context: LoadContext): Declared<ImageSpec> | null {
  const label = entry["label"];
  if (typeof label !== "string") return null;
  const address = imageAddress(label);
  const report = (diagnostic: Problem): void => context.report({ severity: "error", address, ...diagnostic });
  if (!/^[\w ,.?'-]+$/.test(label)) report(badLabel(entry, context));
  const description = entry["description"] as string | null | undefined;
  if (typeof description === "string") checkDescription(description, entry, context, report);
  const source = loadSource(entry, context, report);
  if (source === null) return null;
  return {
    unit: "image",
    address,
    key: label,
    id: textOrNull(entry["id"]),
    movedFrom: textOrNull(entry["moved_from"]),
    protect: entry["protect"] === true,
    note: textOrNull(entry["note"]),
    span: context.span(entry, "label"),
    spec: { label, description, source },
  };
}

type Problem = Omit<Diagnostic, "severity" | "address">;
type Report = (diagnostic: Problem) => void;

function badLabel(entry: JsonObject, context: LoadContext): Problem {
  return {
    code: "bad-label",
    summary: "bad `label`",
    detail: "The label of an image has ASCII letters, digits, spaces and , . ? - _ ' only.",
    fix: "Choose another label, for example golden-2026-11.",
    span: context.span(entry, "label"),
  };
}

function checkDescription(text: string, entry: JsonObject, context: LoadContext, report: Report): void {
  const span = context.span(entry, "description");
  if (text.toLowerCase().includes("[tenon:")) {
    const detail = "`[tenon:…]` in a description is how Tenon marks what it owns, so your own text cannot hold it.";
    report({
      code: "reserved-tag",
      summary: "the description holds an ownership tag",
      detail,
      fix: "Remove it; set `owner` in the root file instead.",
      span,
    });
  }
  const length = joinDescription(text, context.owner).length;
  if (length > MAX_DESCRIPTION_LENGTH) {
    const detail = `With the owner's tag it would have ${length} characters; the service takes ${MAX_DESCRIPTION_LENGTH}.`;
    report({ code: "too-long", summary: "`description` is too long", detail, fix: "Shorten it.", span });
  }
}

function loadSource(entry: JsonObject, context: LoadContext, report: Report): ImageSource | null {
  const { upload, capture } = entry as { upload?: Json; capture?: Json };
  if (isJsonObject(upload) && isJsonObject(capture)) {
    report({
      code: "conflicting-keys",
      summary: "both `upload` and `capture`",
      detail: "An image is made in one way: from a file, or from a disk.",
      fix: "Keep one of the two.",
      span: context.span(entry, "capture"),
      related: [{ message: "the other one", span: context.span(entry, "upload") }],
    });
    return null;
  }
  if (isJsonObject(upload)) {
    const [file, region] = [textOrNull(upload["file"]) ?? "", textOrNull(upload["region"]) ?? ""];
    return { type: "upload", file: file.replace(/^(\.\/)+/, ""), region, cloud_init: upload["cloud_init"] === true };
  }
  if (isJsonObject(capture)) {
    return { type: "capture", disk_id: Number(capture["disk_id"]), cloud_init: capture["cloud_init"] === true };
  }
  report({
    code: "missing-key",
    summary: "neither `upload` nor `capture`",
    detail: "An image entry says how the image is made.",
    fix: "Add `upload: { file: …, region: … }` or `capture: { disk_id: … }`.",
    span: context.span(entry, "label"),
  });
  return null;
}

function textOrNull(value: Json | undefined): string | null {
  return typeof value === "string" ? value : null;
}
