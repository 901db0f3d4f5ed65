/** An image entry of a manifest → its declared image, with everything the service would refuse reported. */

import { imageAddress } from "../../model/address.ts";
import type { Declared } from "../../model/desired.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import type { Json, JsonObject } from "../../model/resource.ts";
import { isJsonObject } from "../../model/resource.ts";
import type { LoadContext, NameProblem } from "../../model/unit.ts";
import { checkDescription } from "../description.ts";
import type { ImageSource, ImageSpec } from "./shape.ts";

/** API.md, Limits: image description. */
const MAX_DESCRIPTION_LENGTH = 65_000;

/** @returns null if the entry has no label, or says in two ways how it is made */
export function loadImage(entry: JsonObject, context: LoadContext): Declared<ImageSpec> | null {
  const label = entry["label"];
  if (typeof label !== "string") return null;
  const address = imageAddress(label);
  const report = (diagnostic: Problem): void => context.report({ severity: "error", address, ...diagnostic });
  const problem = labelProblem(label);
  if (problem !== null) report({ ...problem, span: context.span(entry, "label") });
  const description = entry["description"] as string | null | undefined;
  checkDescription(entry, MAX_DESCRIPTION_LENGTH, {
    ...context,
    report: (found) => context.report({ ...found, address }),
  });
  const source = loadSource(entry, context, report);
  if (source === undefined) return null;
  return {
    unit: "image",
    address,
    key: label,
    id: textOrNull(entry["id"]),
    movedFrom: textOrNull(entry["moved_from"]),
    protect: entry["protect"] === true,
    note: textOrNull(entry["note"]),
    span: context.span(entry, "label"),
    ...(entry["id"] === undefined ? {} : { idSpan: context.span(entry, "id") }),
    spec: { label, description, source },
  };
}

type Problem = Omit<Diagnostic, "severity" | "address">;
type Report = (diagnostic: Problem) => void;

export function labelProblem(label: string): NameProblem | null {
  if (/^[\w ,.?'-]+$/.test(label)) return null;
  return {
    code: "bad-label",
    summary: "bad `label`",
    detail: "The label of an image has ASCII letters, digits, spaces and , . ? - _ ' only.",
    fix: "Choose another label, for example golden-2026-11.",
  };
}

/** @returns undefined if it cannot be told; that is reported */
function loadSource(entry: JsonObject, context: LoadContext, report: Report): ImageSource | null | undefined {
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
    return undefined;
  }
  if (isJsonObject(upload)) {
    const [file, region] = [textOrNull(upload["file"]) ?? "", textOrNull(upload["region"]) ?? ""];
    return { type: "upload", file: file.replace(/^(\.\/)+/, ""), region, cloud_init: upload["cloud_init"] === true };
  }
  if (isJsonObject(capture)) {
    return { type: "capture", disk_id: Number(capture["disk_id"]), cloud_init: capture["cloud_init"] === true };
  }
  return null;
}

function textOrNull(value: Json | undefined): string | null {
  return typeof value === "string" ? value : null;
}
