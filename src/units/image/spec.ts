/** How a machine image appears in a manifest. */

import { imageAddress } from "../../model/address.ts";
import type { UnitSpec } from "../../model/unit.ts";
import { labelProblem, loadImage } from "./load.ts";
import { IMAGE_DEFINITIONS, IMAGE_SCHEMA } from "./schema.ts";
import type { ImageSpec } from "./shape.ts";
import { writeImage } from "./write.ts";

export const imageSpec: UnitSpec<ImageSpec> = {
  section: "images",
  removedKey: "image",
  schema: IMAGE_SCHEMA,
  definitions: IMAGE_DEFINITIONS,
  load: loadImage,
  write: writeImage,
  removed: (label) => ({ address: imageAddress(label), key: label, problem: labelProblem(label) }),
  files: (declared) => (declared.spec.source?.type === "upload" ? [declared.spec.source.file] : []),
};
