/** The place of what no manifest has declared yet. */

import type { Span } from "../model/diagnostic.ts";

export const NOWHERE: Span = { file: "", start: 0, end: 0 };
