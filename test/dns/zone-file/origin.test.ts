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
  ["$TTL 5\n$ORIGIN\n) bad\na..b x\n$ORIGIN example.com. ; c", "example.com"],
  ["@ SOA a b 1 2 3 4 5", null],
  ["$ORIGIN sub\n@ SOA a b 1 2 3 4 5", null],
  ["www.example.com. A 192.0.2.1", null],
  ["; $ORIGIN example.com.", null],
  ["$ORIGIN .", null],
  ["", null],
])("%j is of %j", (text, zone) => {
  expect(findOrigin(text)).toBe(zone);
});
