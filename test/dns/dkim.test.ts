import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it, test } from "vitest";
import { buildDkim } from "../../src/dns/builders.ts";
import { publicKeyIn } from "../../src/dns/dkim.ts";

const rsa = generateKeyPairSync("rsa", { modulusLength: 1024 });
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
const ed25519 = generateKeyPairSync("ed25519");

function base64(der: Buffer): string {
  return der.toString("base64");
}

describe("a public key", () => {
  const spki = base64(rsa.publicKey.export({ type: "spki", format: "der" }));

  it("is read once, however many records hold it", () => {
    expect(publicKeyIn(spki)).toEqual({ type: "rsa", bits: 1024, spki });
    expect(publicKeyIn(spki)).toBe(publicKeyIn(spki));
  });

  it("may be a bare RSA key", () => {
    expect(publicKeyIn(base64(rsa.publicKey.export({ type: "pkcs1", format: "der" })))).toEqual({
      type: "rsa",
      bits: 1024,
      spki,
    });
  });

  it("is none if it is something else", () => {
    for (const text of ["", "AAAA", "MAAA", "MIIB", base64(Buffer.alloc(300, 0x30))])
      expect(publicKeyIn(text)).toBeNull();
  });
});

test.each([
  ["PKCS #8, RSA", rsa.privateKey.export({ type: "pkcs8", format: "der" })],
  ["PKCS #1", rsa.privateKey.export({ type: "pkcs1", format: "der" })],
  ["SEC 1", ec.privateKey.export({ type: "sec1", format: "der" })],
  ["PKCS #8, Ed25519", ed25519.privateKey.export({ type: "pkcs8", format: "der" })],
] as const)("a private key is never published: %s", (_, der) => {
  const { records, problems } = buildDkim({ selector: "s1", key: base64(der) }, "");
  expect(problems.map(({ summary }) => summary)).toEqual(["a private key"]);
  expect(records[0]?.target).toBe("v=DKIM1; k=rsa; p=");
  expect(publicKeyIn(base64(der))).toBeNull();
});
