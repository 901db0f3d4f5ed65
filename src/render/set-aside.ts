/** What zone files hold and nobody takes over, in a line: for commands that are about something else. */

import {
  ZONE_FILE_APEX_NS_CODE,
  ZONE_FILE_SIGNING_CODE,
  ZONE_FILE_SOA_CODE,
  ZONE_FILE_UNSUPPORTED_CODE,
} from "../dns/set-aside-codes.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { count } from "./wording.ts";

export interface Counted {
  /** What is to be told as it is. */
  readonly others: readonly Diagnostic[];
  /** One line for each kind that was there, for all of the project; without line ends. */
  readonly notes: readonly string[];
}

/** Takes the warnings about zone files out, and counts them. Errors stay. */
export function countSetAside(diagnostics: readonly Diagnostic[]): Counted {
  let [own, signing, unsupported] = [0, 0, 0];
  const others = diagnostics.filter(({ code, severity }) => {
    if (severity !== "warning") return true;
    if (code === ZONE_FILE_SOA_CODE || code === ZONE_FILE_APEX_NS_CODE) own += 1;
    else if (code === ZONE_FILE_SIGNING_CODE) signing += 1;
    else if (code === ZONE_FILE_UNSUPPORTED_CODE) unsupported += 1;
    else return true;
    return false;
  });
  const notes = [
    ...(own === 0 ? [] : [`${count(own, "SOA or apex NS record is", "SOA and apex NS records are")} set aside`]),
    ...(signing === 0
      ? []
      : [`${count(signing, "record that signing adds is", "records that signing adds are")} set aside`]),
    ...(unsupported === 0
      ? []
      : [`${count(unsupported, "unsupported record is", "unsupported records are")} left out`]),
  ];
  return { others, notes: notes.map((note) => `Note: ${note}: see tenon validate.`) };
}
