/** What the parts of loading one domain share. */

import type { Diagnostic } from "../../../model/diagnostic.ts";
import type { LoadContext } from "../../../model/unit.ts";

export interface ZoneContext extends LoadContext {
  /** Lower-case ASCII without a final dot. */
  readonly zone: string;
  error(problem: Omit<Diagnostic, "severity" | "address">): void;
}
