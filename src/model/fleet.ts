/** What came of a command for each account of a fleet. */

export type FleetCommand = "validate" | "plan" | "apply" | "drift";

/** Why an account's turn never came: the canary or another account failed, or the run was interrupted. */
export type NotRunReason = "canary" | "failures" | "guard" | "interrupted";

export type AccountOutcome =
  | {
      readonly type: "ran";
      /** The exit code of the command for this account alone. */
      readonly code: number;
      /** One line of plain text, for example `2 to add, 1 to change`. */
      readonly headline: string;
      /** What the command printed for people, results and messages in their order; may be empty. */
      readonly text: string;
      /** `markdown`: what others wrote stands in `text` within code only. `plain`: it stands anywhere. */
      readonly markup: "plain" | "markdown";
      /** The JSON document of the command; null if it made none. */
      readonly document: string | null;
    }
  | { readonly type: "not-run"; readonly reason: NotRunReason };

export interface AccountResult {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly outcome: AccountOutcome;
}

export interface FleetReport {
  readonly command: FleetCommand;
  /** By name. */
  readonly accounts: readonly AccountResult[];
}
