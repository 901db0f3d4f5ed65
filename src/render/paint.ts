/** Colours: which of them mean what, and whether there are any. */

import colors from "picocolors";
import type { Mark } from "./view.ts";

export interface Paint {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly good: (text: string) => string;
  readonly warn: (text: string) => string;
  readonly bad: (text: string) => string;
}

/** @param colour whether the reader is a terminal that shows colours: decided by the caller alone */
export function createPaint(colour: boolean): Paint {
  const { bold, dim, green, yellow, red } = colors.createColors(colour);
  return { bold, dim, good: green, warn: yellow, bad: red };
}

const SIGNS: Readonly<Record<Mark, string>> = { create: "+", update: "~", delete: "-", replace: "-/+", none: " " };

/** Before the mark of what is blocked, so that the other marks are what will be done. */
export const BLOCKED_MARK = "! ";

/** The mark as a sign, in its colour. */
export function paintMark(paint: Paint, mark: Mark): string {
  const sign = SIGNS[mark];
  switch (mark) {
    case "create":
      return paint.good(sign);
    case "update":
      return paint.warn(sign);
    case "delete":
    case "replace":
      return paint.bad(sign);
    case "none":
      return sign;
  }
}

export function signOf(mark: Mark): string {
  return SIGNS[mark];
}
