/** A declared network: what a VPC entry of a manifest comes to. */

import type { Span } from "../../model/diagnostic.ts";

export interface NetworkSpec {
  readonly label: string;
  readonly region: string;
  /** undefined: left alone; null or "": empty. Without the owner's tag. */
  readonly description: string | null | undefined;
  /** null: not managed. */
  readonly subnets: readonly SubnetSpec[] | null;
}

export interface SubnetSpec {
  readonly label: string;
  /** Canonical CIDR. */
  readonly ipv4: string;
  /** null: as its VPC is. */
  readonly protect: boolean | null;
  readonly span: Span;
  readonly note: string | null;
}
