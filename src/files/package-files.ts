/** Files that come with Tenon: they lie beside its code, or, in the standalone executable, within it. */

import { existsSync, readFileSync } from "node:fs";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Not imported: Node alone has it. */
const sea = process.getBuiltinModule?.("node:sea") as Assets | undefined;
type Assets = typeof import("node:sea") & { getAssetKeys(): string[] };

/** Of the standalone executable (`npm run build:binary`), named by the paths of the files; null elsewhere. */
const assets: Assets | null = sea?.isSea() === true ? sea : null;

export const isStandalone: boolean = assets !== null;

/**
 * Beside the code; not for the standalone executable.
 * @param path from the package's folder; every file of code lies two folders below that: in src/ or dist/ by part, in dist/bin or in dist/lib
 */
export function packageFile(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}

/** @param path from the package's folder */
export function readPackageFile(path: string): string {
  return assets === null ? readFileSync(packageFile(path), "utf8") : assets.getAsset(path, "utf8");
}

/**
 * A file that is there only after the build.
 * @param path from the package's folder
 * @returns null if there is no such file
 */
export function readBuiltFile(path: string): string | null {
  const isThere = assets === null ? existsSync(packageFile(path)) : assets.getAssetKeys().includes(path);
  return isThere ? readPackageFile(path) : null;
}

/** Where an editor finds the schema of manifests, from the folder of a project that has Tenon as a package. */
export const MANIFEST_SCHEMA = "node_modules/tenon/schemas/manifest.schema.json";

/** Of Tenon, from the package itself. */
export function readVersion(): string {
  return (JSON.parse(readPackageFile("package.json")) as { version: string }).version;
}

/** @param path from the package's folder */
export async function copyPackageFolder(path: string, to: string): Promise<void> {
  if (assets === null) return cp(packageFile(path), to, { recursive: true });
  for (const key of assets.getAssetKeys().filter((name) => name.startsWith(`${path}/`))) {
    const file = join(to, key.slice(path.length + 1));
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, Buffer.from(assets.getAsset(key)));
  }
}

/**
 * What a CommonJS module exports that requires no other.
 * @param path from the package's folder
 * @returns undefined if there is no such file
 */
export async function packageModule(path: string): Promise<unknown> {
  if (assets === null) {
    const file = packageFile(path);
    return existsSync(file) ? createRequire(import.meta.url)(file) : undefined;
  }
  if (!assets.getAssetKeys().includes(path)) return undefined;
  const { compileFunction } = await import("node:vm");
  const module = { exports: {} };
  compileFunction(readPackageFile(path), ["module"], { filename: path })(module);
  return module.exports;
}
