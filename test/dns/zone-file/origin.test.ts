import { expect, test } from "vitest";
import { findOrigin } from "../../../src/dns/zone-file/read.ts";

test.each<[string, string | null]>([
  ["$ORIGIN Example.COM.\n@ SOA a b 1 2 3 4 5", "example.com"],
  ["example.com. 300 IN SOA a b 1 2 3 4 5", "example.com"],
  ["\ufeff; c\nexample.com. (\n IN SOA a b 1 2 3 4 5 )", "example.com"],
  ["$ORIGIN .\nexample.com IN SOA a b 1 2 3 4 5", "example.com"],
  ["$ORIGIN com.\nexample 5 SOA a b 1 2 3 4 5\n$ORIGIN x.", "example.com"],
  ["$ORIGIN com.\n$ORIGIN example\n@ SOA a b 1 2 3 4 5", "example.com"],
  ["$ORIGIN example.com.\nexample.net. SOA a b 1 2 3 4 5", "example.net"],
  ["$ORIGIN example.com.\nwww A 192.0.2.1\n$ORIGIN sub", "example.com"],
  ["$TTL 5\n$ORIGIN\n$ORIGIN a..b.\n$ORIGIN example.com. ; c", "example.com"],
  ["www.example.com. TXT soa\nexample.com. SOA a b 1 2 3 4 5", "example.com"],
  ["soa.example.com. 60 IN CNAME SOA\n$ORIGIN example.com.\n@ IN 1h SOA a b 1 2 3 4 5", "example.com"],
  ["$INCLUDE a\n$ORIGIN example.com.\n@ SOA a b 1 2 3 4 5", "example.com"],
  ["@ NS a\n$ORIGIN sub.example.com.\nexample.com. SOA a b 1 2 3 4 5", "example.com"],
  ["$INCLUDE soa.inc\n$ORIGIN sub.example.com.\nhost A 192.0.2.1", null],
  ["www A 192.0.2.1\n$ORIGIN sub.example.com.\nhost A 192.0.2.1", null],
  ["$GENERATE 1-2 h$ A 192.0.2.$\n$ORIGIN sub.example.com.", null],
  [" NS a\n$ORIGIN sub.example.com.", null],
  ["www.example.com. CNAME soa", null],
  ['www.example.com. "SOA" a b 1 2 3 4 5', null],
  ["@ SOA a b 1 2 3 4 5", null],
  ["$ORIGIN sub\n@ SOA a b 1 2 3 4 5", null],
  ["www.example.com. A 192.0.2.1", null],
  ["; $ORIGIN example.com.", null],
  ["$ORIGIN .", null],
  ["", null],
])("%j is of %j", (text, zone) => {
  const { soa, first } = findOrigin(text);
  expect(soa ?? first).toBe(zone);
});
