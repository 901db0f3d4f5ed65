/** Names at which ACME looks for the answer to a challenge (RFC 8555, 8.4). */

/** @param name relative or absolute */
export function isAcmeName(name: string): boolean {
  return /^_acme-challenge(\.|$)/i.test(name);
}
