/** The flags of commands that ask nameservers. */

import type { Command } from "commander";
import { collect, parseDuration } from "./args.ts";

export interface VerifyFlags {
  readonly nameserver?: readonly string[];
  /** Seconds. */
  readonly verifyTimeout?: number;
  readonly delegation?: boolean;
  readonly parent?: readonly string[];
}

/** @param timeout what the help says of the default */
export function addVerifyFlags(command: Command, timeout: string): Command {
  return command
    .option("--nameserver <host[:port]>", "ask this one, not the zone's NS; repeatable", collect)
    .option("--verify-timeout <time>", `wait so long for what is missing (${timeout})`, parseDuration)
    .option("--delegation", "check the delegation at the parent zone, too")
    .option("--parent <host[:port]>", "the parent's server for --delegation; repeatable", collect);
}
