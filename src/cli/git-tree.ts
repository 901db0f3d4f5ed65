/** The files of a commit, read from git's objects when they are asked for: nothing is checked out, and what nobody names costs nothing. */

import { isUtf8 } from "node:buffer";
import { readdir, readlink } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { isBelow, isWithin } from "../files/paths.ts";
import { decodeText, type FolderEntry, MAX_MANIFEST_BYTES, type ProjectFiles, type ReadText } from "../index.ts";
import {
  type AttributedFiles,
  type Blob,
  CONVERSIONS,
  type CommitTree,
  commitTree,
  type Environment,
  startGit,
  topOf,
} from "./git.ts";
import { type GitObject, GitObjects } from "./git-objects.ts";

/** The most octets of the list of one folder, without those beneath it: about a million names. */
const MAX_LIST_BYTES = 64 * 1024 * 1024;
/** The most octets of a path, as on Linux: a longer one is in no project either, as no file can be opened by it. */
const MAX_PATH_BYTES = 4_095;
/** The most octets of a name in it: no file system of today takes more. */
const MAX_NAME_BYTES = 255;
/** Links that are followed in one path, as Linux bounds them. */
const MAX_FOLLOWED_LINKS = 40;
/** The most submodules that are read, those within submodules included; of the rest nothing is known. */
const MAX_SUBMODULES = 50;

type EntryType = "folder" | "file" | "link" | "submodule";

/** As git reads modes of a tree, whose other bits may be anything: what is none of these is a submodule to it. */
const TYPE_BITS = 0o170000;
const TYPES: ReadonlyMap<number, EntryType> = new Map([
  [0o040000, "folder"],
  [0o100000, "file"],
  [0o120000, "link"],
]);

interface Entry {
  readonly type: EntryType;
  readonly id: string;
}

interface Folder {
  readonly objects: GitObjects;
  /** By name. Names and paths are octets here, one in each character: links lead through names that are not UTF-8, too. */
  readonly entries: ReadonlyMap<string, Entry>;
}

/** What is known of a submodule whose commit is not there. */
const NOT_FETCHED = "not-fetched";

/**
 * Paths are those that the files have in the work tree. Links are followed within the whole repository, and beyond it on the disk, as in a
 * checkout.
 */
export class CommitFiles implements ProjectFiles {
  /** Why git could not be asked, as a clause: then what was read is not the commit's. */
  failure: string | null = null;
  /** Files of the work tree that were asked for by their names, which the commit has not. */
  readonly uncommitted: Set<string> = new Set();
  readonly #top: string;
  readonly #environment: Environment;
  /** Paths of what the work tree has beside the commit, as `list` has named it. */
  readonly #offered: Set<string> = new Set();
  readonly #repositories: GitObjects[] = [];
  readonly #folders: Map<string, Promise<Folder | typeof NOT_FETCHED | null>> = new Map();
  /** Real paths of the files that were read, by their repository. */
  readonly #read: Map<GitObjects, Set<string>> = new Map();
  #submodulesLeft = MAX_SUBMODULES;

  constructor({ tree, top }: CommitTree, environment: Environment) {
    this.#top = octets(top);
    this.#environment = environment;
    this.#folders.set(this.#top, this.#readFolder(this.#repository(top), tree));
  }

  /** Ends the processes that read. */
  close(): void {
    for (const repository of this.#repositories) repository.close();
  }

  async has(path: string): Promise<boolean> {
    return (await this.#entry(octets(path))) !== null;
  }

  async realpath(path: string): Promise<string> {
    const { place, isThere } = await this.resolve(path);
    if (isThere) return place;
    if (!this.#offered.has(path)) throw problem("ENOENT", octets(place));
    this.uncommitted.add(path);
    throw problem("EUNCOMMITTED", octets(path));
  }

  /**
   * The path with every link of the commit followed, as far as the commit has it: where it ends in what the commit has not, the rest stands
   * as it is.
   * @throws as `realpath`, but for ENOENT
   */
  async resolve(path: string): Promise<{ readonly place: string; readonly isThere: boolean }> {
    let current = this.#top;
    // The last part comes first.
    let rest = octets(relative(text(this.#top), path))
      .split(sep)
      .reverse();
    let followed = 0;
    for (let name = rest.pop(); name !== undefined; name = rest.pop()) {
      if (!(await this.#isFolder(current))) throw problem("ENOTDIR", current);
      const next = join(current, name);
      if (next.length > MAX_PATH_BYTES) throw problem("ENAMETOOLONG", next);
      const target = isBelow(next, this.#top) ? await this.#target(next) : await diskTarget(next);
      if (target === undefined) return { place: text([next, ...rest.reverse()].join(sep)), isThere: false };
      if (target === null) {
        current = next;
        continue;
      }
      followed += 1;
      if (followed > MAX_FOLLOWED_LINKS) throw problem("ELOOP", next);
      if (target.startsWith(sep)) current = sep;
      rest = rest.concat(target.split(sep).reverse());
    }
    return { place: text(current), isThere: true };
  }

  /** With what the work tree has beside the commit: a file that a build makes there may have been there for the commit, too. */
  async list(folder: string): Promise<readonly FolderEntry[] | null> {
    const found = await this.#folder(octets(folder));
    if (found === NOT_FETCHED) return null;
    const committed = [...(found?.entries ?? [])].flatMap(([name, { type }]) => {
      // No manifest can name a file whose name is not UTF-8; decoded, several such names may become one.
      if (!isUtf8(Buffer.from(name, "latin1"))) return [];
      return [{ name: text(name), isDirectory: () => type === "folder" || type === "submodule" }];
    });
    const there = await readdir(folder, { withFileTypes: true }).catch(() => []);
    const others = there.filter(({ name }) => found?.entries.has(octets(name)) !== true && !name.includes("\ufffd"));
    for (const { name } of others) this.#offered.add(join(folder, name));
    return [...committed, ...others];
  }

  /**
   * The object of a regular file, of whatever size.
   * @param path a real path
   * @returns null: there is none
   */
  async blob(path: string): Promise<Blob | null> {
    const entry = await this.#entry(octets(path));
    if (entry?.type !== "file") return null;
    this.#note(path, entry.objects);
    return { id: entry.id, folder: entry.objects.folder };
  }

  async read(path: string): Promise<ReadText> {
    const folder = await this.#folder(octets(dirname(path)));
    if (folder === null || folder === NOT_FETCHED) return { ok: false, problem: "missing" };
    const entry = folder.entries.get(octets(basename(path)));
    if (entry?.type !== "file") return { ok: false, problem: entry === undefined ? "missing" : "not-a-file" };
    this.#note(path, folder.objects);
    const { size, content } = await this.#readObject(folder.objects, entry.id, MAX_MANIFEST_BYTES);
    return content === null ? { ok: false, problem: "too-large", size } : { ok: true, ...decodeText(content) };
  }

  #note(path: string, objects: GitObjects): void {
    const paths = this.#read.get(objects) ?? new Set();
    this.#read.set(objects, paths.add(octets(path)));
  }

  /** What was read of each repository whose attributes may give a file another text in a checkout. */
  async attributed(): Promise<readonly AttributedFiles[]> {
    const found: AttributedFiles[] = [];
    for (const [objects, paths] of this.#read) {
      const top = octets(objects.folder);
      const within = (path: string): string => text(relative(top, path)).split(sep).join("/");
      const folders = new Set<string>();
      for (const path of paths) {
        for (let at = dirname(path); isWithin(at, top) && !folders.has(at); at = dirname(at)) folders.add(at);
      }
      const attributes: { path: string; id: string }[] = [];
      let mayConvert = false;
      for (const at of folders) {
        const path = join(at, ".gitattributes");
        const entry = await this.#entry(path);
        // Git obeys the text of a link, too.
        if (entry?.type !== "file" && entry?.type !== "link") continue;
        const { content } = await this.#readObject(objects, entry.id, MAX_MANIFEST_BYTES);
        attributes.push({ path: within(path), id: entry.id });
        mayConvert ||= content === null || CONVERSIONS.some((attribute) => content.includes(attribute));
      }
      if (mayConvert) found.push({ top: objects.folder, files: [...paths].map(within), attributes });
    }
    return found;
  }

  /** @returns null: there is none @throws ENOTFETCHED */
  async #entry(path: string): Promise<(Entry & Pick<Folder, "objects">) | null> {
    const folder = await this.#folder(dirname(path));
    if (folder === NOT_FETCHED) throw problem("ENOTFETCHED", path);
    const entry = folder?.entries.get(basename(path));
    return folder === null || entry === undefined ? null : { ...entry, objects: folder.objects };
  }

  /** @throws ENOTFETCHED */
  async #isFolder(path: string): Promise<boolean> {
    if (!isWithin(path, this.#top)) return true;
    const folder = await this.#folder(path);
    if (folder === NOT_FETCHED) throw problem("ENOTFETCHED", path);
    return folder !== null;
  }

  /** What a link leads to; null: it is none; undefined: there is nothing of this path. @throws ENOENT: no checkout makes a link of it */
  async #target(path: string): Promise<string | null | undefined> {
    const entry = await this.#entry(path);
    if (entry === null) return;
    if (entry.type !== "link") return null;
    const { content } = await this.#readObject(entry.objects, entry.id, MAX_MANIFEST_BYTES);
    // A checkout makes a link of what stands before a NUL, and none where nothing does, or more than a path may have.
    const [target = ""] = content?.toString("latin1").split("\0", 1) ?? [];
    if (target === "" || target.length > MAX_PATH_BYTES) throw problem("ENOENT", path);
    return target;
  }

  /** @returns null: there is none of this path, links not followed */
  #folder(path: string): Promise<Folder | typeof NOT_FETCHED | null> {
    const known = this.#folders.get(path) ?? this.#findFolder(path);
    this.#folders.set(path, known);
    return known;
  }

  async #findFolder(path: string): Promise<Folder | typeof NOT_FETCHED | null> {
    if (path.length > MAX_PATH_BYTES || !isWithin(path, this.#top)) return null;
    const above = await this.#folder(dirname(path));
    if (above === null || above === NOT_FETCHED) return above;
    const entry = above.entries.get(basename(path));
    if (entry?.type === "folder") return this.#readFolder(above.objects, entry.id);
    return entry?.type === "submodule" ? this.#openSubmodule(text(path), entry.id) : null;
  }

  async #openSubmodule(folder: string, commit: string): Promise<Folder | typeof NOT_FETCHED> {
    this.#submodulesLeft -= 1;
    const isHere = this.#submodulesLeft >= 0 && (await topOf(folder, this.#environment)) === folder;
    const tree = isHere ? await commitTree(commit, folder, this.#environment) : null;
    return tree === null ? NOT_FETCHED : this.#readFolder(this.#repository(folder), tree);
  }

  #repository(folder: string): GitObjects {
    const objects = new GitObjects(folder, () => startGit(["cat-file", "--batch"], folder, this.#environment));
    this.#repositories.push(objects);
    return objects;
  }

  async #readFolder(objects: GitObjects, tree: string): Promise<Folder> {
    const { content } = await this.#readObject(objects, tree, MAX_LIST_BYTES);
    if (content !== null) return { objects, entries: parseTree(content, tree.length / 2) };
    this.failure ??= `the list of a folder has more than ${MAX_LIST_BYTES / 1024 ** 2} MiB`;
    throw new Error(this.failure);
  }

  async #readObject(objects: GitObjects, id: string, maxBytes: number): Promise<GitObject> {
    try {
      return await objects.read(id, maxBytes);
    } catch (error) {
      this.failure ??= error instanceof Error ? error.message : String(error);
      throw error;
    }
  }
}

function octets(path: string): string {
  return Buffer.from(path).toString("latin1");
}

function text(path: string): string {
  return Buffer.from(path, "latin1").toString("utf8");
}

/** What a link beyond the work tree leads to; null: it is none. */
function diskTarget(path: string): Promise<string | null> {
  return readlink(text(path)).then(octets, () => null);
}

/**
 * As the file system has it for the same path; ENOTFETCHED is of a submodule whose commit is not there, EUNCOMMITTED of what the work tree alone
 * has.
 */
function problem(code: string, path: string): Error {
  const what = code === "ENOTFETCHED" ? "it lies in a submodule whose commit is not there" : code;
  return Object.assign(new Error(`${text(path)}: ${what}`), { code });
}

/**
 * `MODE SP NAME NUL ID`, again and again. Names that no checkout has are left out.
 * @param idBytes 20, or 32 for SHA-256
 */
function parseTree(content: Buffer, idBytes: number): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(" ", at);
    const end = content.indexOf(0, space);
    if (space === -1 || end === -1) break;
    const name = content.toString("latin1", space + 1, end);
    const type = TYPES.get(Number.parseInt(content.toString("latin1", at, space), 8) & TYPE_BITS) ?? "submodule";
    at = end + 1 + idBytes;
    const isUsual = name.length <= MAX_NAME_BYTES && !/^(\.{0,2}|\.git)$|\//i.test(name);
    if (isUsual) entries.set(name, { type, id: content.toString("hex", end + 1, at) });
  }
  return entries;
}
