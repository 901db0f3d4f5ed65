/** Limits of a manifest: generous for people, final for hostile input. */

/** Of one manifest, checked before it is read. 12,000 records take about 1.5 MiB. */
export const MAX_FILE_BYTES: number = 8 * 1024 * 1024;
/** Of all manifests of a project together. */
export const MAX_PROJECT_BYTES: number = 128 * 1024 * 1024;
export const MAX_FILES = 10_000;
/** Directory entries that are looked at while `files:` patterns are resolved. */
export const MAX_DIRECTORY_ENTRIES = 200_000;
/** Collections inside collections; a manifest needs about seven. */
export const MAX_NESTING_DEPTH = 64;
/** Nodes that come from aliases, counted each time they are used: stops a "billion laughs" file. */
export const MAX_ALIAS_NODES = 100_000;
/** Records of all domains together, record sets counted for each domain that uses them. */
export const MAX_PROJECT_RECORDS = 1_000_000;
/** Image Upload, API.md, Limits: 5 GB compressed. */
export const MAX_UPLOAD_BYTES: number = 5 * 1024 ** 3;
