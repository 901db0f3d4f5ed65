/** The requests that carry out the changes of images (API.md, Images, rules 1 to 3). */

import type { WireImage } from "../../api/wire.ts";
import type { FileContent } from "../../model/api.ts";
import type { Change } from "../../model/change.ts";
import type { PathPart, RequestStep, UploadStep, WaitStep } from "../../model/plan.ts";
import type { JsonObject, ObjectId, Values } from "../../model/resource.ts";
import { NO_FACTS, type PlannedStep, type StepContext } from "../../model/unit.ts";
import { request, type UnorderedRequest } from "../common.ts";
import { joinDescription, splitDescription } from "../owner-tag.ts";
import { hashOf } from "./content.ts";

/** The milestone that every delete awaits: all images that replace a deleted one are available. */
const ALL_AVAILABLE = "images";

/**
 * Labels are not unique, so an image's replacement is made while the old image is still there. No image is deleted before all new images
 * are available.
 */
export function imageSteps(changes: readonly Change[], context: StepContext): PlannedStep[] {
  const deletes = changes.some(({ action }) => action === "delete" || action === "replace");
  const statuses = new Map(deletes ? (context.live as WireImage[]).map(({ id, status }) => [id, status]) : []);
  return changes.flatMap((change): PlannedStep[] => {
    const isAwaited = isUnready(change, statuses.get(String(change.id)));
    const pending = isAwaited ? [wait(change, imagePath(change), [], context)] : [];
    switch (change.action) {
      case "no-op":
        return pending;
      case "create":
        return createImage(change, context);
      case "update":
        return [
          {
            step: request(change, `update ${change.address}`, "PUT", imagePath(change), updateBody(change)),
            facts: NO_FACTS,
          },
          ...pending,
        ];
      case "delete":
        return deleteImage(change);
      case "replace":
        return [...createImage(change, context), ...deleteImage(change)];
    }
  });
}

/**
 * Whether an image that stays must be waited for: its data is there but it is not available yet, or its upload may still be in progress. In
 * the second case the change is blocked, and with it every delete that awaits it.
 */
function isUnready({ blocked }: Change, status: string | undefined): boolean {
  return status === "creating" || (status === "pending_upload" && blocked !== null);
}

function deleteImage(change: Change): PlannedStep[] {
  const remove = request(change, `delete ${change.address}`, "DELETE", imagePath(change), null);
  const facts = { ...NO_FACTS, awaits: [ALL_AVAILABLE] };
  const look: UnorderedRequest = {
    ...request(change, `check ${change.address}`, "GET", imagePath(change), null),
    expect: expectationOf(change),
  };
  return [
    { step: look, facts },
    { step: remove, facts: { ...facts, requires: [look.id] } },
  ];
}

/**
 * What an image must still be to be deleted. Whoever began an unfinished upload may complete it: then it is an image like any other, and nobody
 * consented to its deletion. Any other one goes once all new images are there, which may take an hour: by then it must still have its label
 * and its owner.
 */
function expectationOf({ labels, before }: Change): JsonObject {
  if (labels.includes("unfinished")) return { status: "pending_upload" };
  return { label: before?.["label"] ?? null, owner: before?.["owner"] ?? null };
}

/** Judges the GET before a delete. Returns the reason not to delete, or null. */
export function objectionToImageDelete({ expect }: RequestStep, answer: JsonObject): string | null {
  if (expect?.["status"] !== undefined) {
    return answer["status"] === expect["status"]
      ? null
      : "its upload has been finished since it was planned; plan again";
  }
  const { description } = answer;
  const { owner } = splitDescription(typeof description === "string" ? description : null);
  if (answer["label"] === expect?.["label"] && owner === expect?.["owner"]) return null;
  return "somebody else has renamed it or changed its owner tag since it was planned; plan again";
}

function createImage(change: Change, context: StepContext): PlannedStep[] {
  const after = change.after as Values;
  const known = context.idsOf(String(after["label"]));
  const upload = after["upload"] as JsonObject | undefined;
  const waits = (last: string[]) => wait(change, ["images", { ref: change.key, field: "id" }], last, context);
  // An image without a source is blocked. Only its wait is planned, so that every delete that awaits it is blocked as well.
  if (upload === undefined && after["capture"] === undefined) return [waits([])];
  const made = upload === undefined ? capture(change, after, known) : uploadRequest(change, after, upload, known);
  const create = { step: made, facts: NO_FACTS };
  if (upload === undefined) return [create, waits([made.id])];
  const send: Omit<UploadStep, "after"> = {
    id: `upload ${change.address}`,
    type: "upload",
    unit: "image",
    root: change.root,
    changes: [change.key],
    to: { ref: change.key, field: "upload_to" },
    file: String(upload["file"]),
    content: contentOf(upload),
    limitSeconds: context.uploadTimeoutSeconds,
  };
  return [create, { step: send, facts: { ...NO_FACTS, requires: [made.id] } }, waits([send.id])];
}

function contentOf({ sha256, bytes }: JsonObject): FileContent | null {
  return typeof sha256 === "string" && typeof bytes === "number" ? { bytes, sha256 } : null;
}

function uploadRequest(
  change: Change,
  after: Values,
  upload: JsonObject,
  known: readonly ObjectId[],
): UnorderedRequest {
  const body = { ...commonBody(after), region: String(upload["region"]) };
  return {
    ...request(change, `create ${change.address}`, "POST", ["images", "upload"], body),
    produces: { ref: change.key, fields: { id: "image.id", upload_to: "upload_to" } },
    lookup: lookup(body, known),
  };
}

function capture(change: Change, after: Values, known: readonly ObjectId[]): UnorderedRequest {
  const source = after["capture"] as JsonObject;
  const body = { ...commonBody(after), disk_id: source["disk_id"] ?? null };
  return {
    ...request(change, `create ${change.address}`, "POST", ["images"], body),
    produces: { ref: change.key, fields: { id: "id" } },
    lookup: lookup(body, known),
  };
}

function lookup(body: JsonObject, known: readonly ObjectId[]): RequestStep["lookup"] {
  return {
    kind: "image",
    path: ["images"],
    filter: { label: body["label"] ?? "", is_public: false },
    match: { label: body["label"] ?? "", description: body["description"] ?? "" },
    known,
  };
}

function commonBody(after: Values): JsonObject {
  const description = describe(after);
  return {
    label: String(after["label"]),
    ...(description === "" ? {} : { description }),
    ...(after["cloud_init"] === true ? { cloud_init: true } : {}),
  };
}

function updateBody({ before, after }: Change): JsonObject {
  const description = describe(after as Values);
  return {
    ...(before?.["label"] === after?.["label"] ? {} : { label: String(after?.["label"]) }),
    // An image's description is null or 1..65000 characters (API.md: Image Update).
    ...(describe(before as Values) === description ? {} : { description: description === "" ? null : description }),
  };
}

function describe(values: Values): string {
  const owner = values["owner"];
  const description = String(values["description"] ?? "");
  return joinDescription(description, typeof owner === "string" ? owner : null, hashOf(values["content"]));
}

function wait(
  change: Change,
  path: readonly PathPart[],
  requires: readonly string[],
  { imageTimeoutSeconds }: StepContext,
): PlannedStep {
  const step: Omit<WaitStep, "after"> = {
    id: `wait for ${change.address}`,
    type: "wait",
    unit: "image",
    root: change.root,
    changes: [change.key],
    path,
    field: "status",
    until: ["available"],
    limitSeconds: imageTimeoutSeconds,
  };
  return { step, facts: { ...NO_FACTS, requires, reaches: [ALL_AVAILABLE] } };
}

function imagePath(change: Change): PathPart[] {
  return ["images", String(change.id)];
}
