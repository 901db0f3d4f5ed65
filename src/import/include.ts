/** `$INCLUDE` at an import: files in the folder of the zone file and beneath it, wherever symbolic links lead. */

import { realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import type { IncludedFile } from "../dns/zone-file/read.ts";
import { isPrivate, isWithin } from "../model/containment.ts";
import type { Sources } from "../model/source.ts";
import { readSource } from "./source-text.ts";

/** @param path of the zone file */
export function includeWithin(path: string, sources: Sources): (wanted: string, from: string) => Promise<IncludedFile> {
  const folder = dirname(path);
  return async (wanted, from) => {
    const file = isAbsolute(wanted) ? wanted : join(dirname(from), wanted);
    const [root, real] = await Promise.all([realpath(folder), realpath(resolve(file)).catch(() => null)]);
    // What lies outside is not looked at, so that not even its presence is told.
    if (real === null ? !isWithin(resolve(file), resolve(folder)) : !isWithin(real, root)) return outside(folder);
    if (real !== null && isPrivate(real, root)) return { ok: false, ...PRIVATE };
    const source = await readSource(real ?? file, file, sources);
    return source.ok ? { ok: true, file, text: source.text } : { ok: false, detail: source.detail };
  };
}

const PRIVATE: Pick<IncludedFile & { readonly ok: false }, "detail" | "fix"> = {
  detail: "it belongs to git or to Tenon, whose files hold what no zone file shows",
  fix: "Take the line out.",
};

function outside(folder: string): IncludedFile {
  const where = folder === "." ? "" : ` (${folder})`;
  return {
    ok: false,
    detail: `it lies outside the folder of the zone file${where}, and only files in it and beneath it are included`,
    fix: "Copy it there, and write its path as seen from the file that includes it.",
  };
}
