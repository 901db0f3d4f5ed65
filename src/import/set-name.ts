/** What a group of records is for, as the name of a record set. */

import type { JsonObject } from "../model/resource.ts";

export type SetCategory = "mail" | "web" | "certificates" | "delegations" | "services" | "reverse" | "verification";

/** Of records of one name and type. */
export function categoryOf(records: readonly JsonObject[]): SetCategory {
  const [first = {}] = records;
  const name = String(first["name"] ?? "");
  switch (first["type"]) {
    case "MX":
      return "mail";
    case "TXT":
      return records.some(({ target }) => isAboutMail(name, String(target))) ? "mail" : "verification";
    case "CAA":
      return "certificates";
    case "NS":
      return "delegations";
    case "SRV":
      return isMailService(name) ? "mail" : "services";
    case "PTR":
      return "reverse";
    case "CNAME":
      return /(^|\.)(_domainkey|autoconfig|autodiscover|mail|smtp|imap|pop3?|mta-sts)(\.|$)/.test(name)
        ? "mail"
        : "web";
    default:
      return /^(mail|smtp|imap|pop3?|mx\d*|mta-sts)(\.|$)/.test(name) ? "mail" : "web";
  }
}

function isAboutMail(name: string, text: string): boolean {
  const isNamed = /(^|\.)(_domainkey|_dmarc|_mta-sts|_smtp\._tls|_adsp\._domainkey)(\.|$)/.test(name);
  return isNamed || /^v=(spf1|DKIM1|DMARC1|STSv1|TLSRPTv1)\b/i.test(text);
}

function isMailService(name: string): boolean {
  return /^_(autodiscover|submissions?|imaps?|pop3s?|smtps?|sieve)\./.test(name);
}
