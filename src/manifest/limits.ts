/** Limits of a manifest: generous for people, final for hostile input. */

/** Of one manifest, checked before it is read. 12,000 records take about 1.5 MiB. */
export const MAX_FILE_BYTES: number = 8 * 1024 * 1024;
/** Of all manifests of a project together. */
export const MAX_PROJECT_BYTES: number = 128 * 1024 * 1024;
export const MAX_FILES = 10_000;
/** Under `files:`, as many as each file written out takes. */
export const MAX_FILE_PATTERNS = 10_000;
/** Directory entries that are looked at, by each pattern anew, while `files:` patterns are resolved. */
export const MAX_DIRECTORY_ENTRIES = 200_000;
/** Collections inside collections; a manifest needs about seven. */
export const MAX_NESTING_DEPTH = 64;
/** Values that any file may have; more only with MIN_CHARACTERS_PER_VALUE for each. 12,000 records have about 75,000. */
export const MAX_SHORT_FILE_VALUES = 100_000;
/** Of the shortest record that is written out a value has five. */
export const MIN_CHARACTERS_PER_VALUE = 4;
/** Nodes of one file that come from aliases, counted each time they are used: stops a "billion laughs" file. */
export const MAX_ALIAS_NODES = 100_000;
/** Records of all domains together, record sets counted for each domain that uses them, and each domain as two. */
export const MAX_PROJECT_RECORDS = 300_000;
/** What a domain counts for beside its records: it takes as much of a plan. */
export const RECORDS_PER_DOMAIN = 2;
/** Records that any project may have, however few characters its files have: a plan of so many takes less than 1 GiB. */
export const MAX_SHORT_PROJECT_RECORDS = 120_000;
/** Characters of its files that a project has for each record beyond those. A record that is written out takes more. */
export const MIN_CHARACTERS_PER_RECORD = 8;
/**
 * What a project comes to, with all that aliases, variables, defaults, record sets and zone files put in, counted wherever they do.
 * Of 300,000 records it is about thirty million.
 */
export const MAX_EXPANDED_CHARACTERS: number = 64 * 1024 * 1024;
/** Of zone files, with all that they include and generate, counted for each domain that names them: each reads them anew. */
export const MAX_ZONE_FILE_OCTETS: number = 128 * 1024 * 1024;
/** Other environments that a plan looks at for what it would delete by mistake: each is a project to be loaded. */
export const MAX_LOOKED_AT_ENVIRONMENTS = 20;
/** Characters that those come to, their files and what is put in: once they have more, none is looked at any more. */
export const MAX_LOOKED_AT_CHARACTERS: number = 32 * 1024 * 1024;
/** Under one `ignore`: its domain's live records, up to 12,000, are compared with each, and how many there are no manifest says. */
export const MAX_IGNORE_PATTERNS = 1_000;
/** Characters of records, counted for each pattern under `ignore` that they are compared with. */
export const MAX_IGNORE_COMPARISONS = 1_000_000_000;
/** Of references in one value that mean nothing, so many are told. */
export const MAX_TOLD_REFERENCES = 20;
/** Image Upload, API.md, Limits: 5 GB compressed. */
export const MAX_UPLOAD_BYTES: number = 5 * 1024 ** 3;
