/** How much a zone file may ask of its reader. */

/** API.md, Limits: active records per domain. */
export const MAX_RECORDS: number = 12_000;

/** Records of any kind, generated ones and duplicates included: where reading stops. */
export const MAX_ENTRIES: number = 100_000;

/** Of the file and all that it includes, in UTF-8, and of what `$GENERATE` makes. */
export const MAX_TOTAL_OCTETS: number = 64 * 1024 ** 2;

/** `$INCLUDE` within included files. */
export const MAX_INCLUDE_DEPTH: number = 10;

/** The same file included twice counts twice. */
export const MAX_INCLUDED_FILES: number = 500;

/** RFC 1035, 3.2.1: the length of a record's data takes 16 bits. */
export const MAX_RDATA_OCTETS: number = 65_535;

/** RFC 1035, 3.3: the length of a character string takes 8 bits. */
export const MAX_STRING_OCTETS: number = 255;

/** More than a TXT of empty strings has. */
export const MAX_TOKENS_PER_ENTRY: number = MAX_RDATA_OCTETS + 10;

/** RFC 2181, 8. */
export const MAX_TTL_SECONDS: number = 2 ** 31 - 1;

/** Errors after which reading stops; so many warnings are shown one by one. */
export const MAX_PROBLEMS: number = 100;
