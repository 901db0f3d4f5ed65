/** What every connection over TLS is opened with: NODE_TLS_REJECT_UNAUTHORIZED and NODE_OPTIONS can weaken Node's defaults, which libraries take. */
export const CHECKED_TLS = { rejectUnauthorized: true, minVersion: "TLSv1.2" } as const;
