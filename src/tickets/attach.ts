/** Attaches files to a ticket: all of them are checked before the first is sent, and each is streamed as a form (API.md, Support). */

import { lstat } from "node:fs/promises";
import { basename, extname } from "node:path";
import { readContent, readProblem, whyLinkRefused } from "../files/files.ts";
import type { FormFile } from "../model/api.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Ticket } from "../model/ticket.ts";
import { inRun, type Posted, post, type Run, type TicketRequest } from "./post.ts";
import { isClosed, readTicket, ticketPath } from "./ticket.ts";
import type { TicketOutcome } from "./write.ts";

/** API.md, Support. */
const EXTENSIONS: readonly string[] = [
  ...[".gif", ".jpg", ".jpeg", ".pjpg", ".pjpeg", ".tif", ".tiff", ".png", ".pdf", ".txt"],
];
/** Of one file: what the service's other clients take for its limit. API.md does not say. */
const MAX_ATTACHMENT_BYTES: number = 5 * 1024 * 1024;
const MAX_NAME_CHARACTERS = 255;

export type CheckedFiles =
  | { readonly ok: true; readonly files: readonly FormFile[] }
  /** Of every file that cannot be attached. */
  | { readonly ok: false; readonly problems: readonly Diagnostic[] };

/** Reads each file once, for its digest: what changes until it is sent is not sent. */
export async function checkAttachments(paths: readonly string[], signal?: AbortSignal): Promise<CheckedFiles> {
  const files: FormFile[] = [];
  const problems: Diagnostic[] = [];
  const names = new Set<string>();
  for (const path of paths) {
    const name = basename(path);
    const checked = await checkFile(path, name, signal);
    if (typeof checked === "object") files.push(checked);
    else problems.push(problemOf(path, checked));
    if (names.has(name)) problems.push(problemOf(path, `two files are called ${name}, and a ticket shows names only`));
    names.add(name);
  }
  return problems.length === 0 ? { ok: true, files } : { ok: false, problems };
}

function problemOf(path: string, clause: string): Diagnostic {
  return {
    code: "attachment-refused",
    severity: "error",
    summary: `${path} cannot be attached: ${clause}`,
    detail: clause === OTHER_EXTENSION ? `It takes ${EXTENSIONS.join(", ")}.` : "",
  };
}

const OTHER_EXTENSION = "the service takes no file of this extension";

/** @returns a clause that says what is wrong, if anything is */
async function checkFile(path: string, name: string, signal?: AbortSignal): Promise<FormFile | string> {
  const extension = extname(name).toLowerCase();
  if (!EXTENSIONS.includes(extension)) return OTHER_EXTENSION;
  if (name.length > MAX_NAME_CHARACTERS) return `its name has more than ${MAX_NAME_CHARACTERS} characters`;
  if (/["\\\p{Cc}]/u.test(name)) return "its name holds a quote, a backslash or a control character";
  try {
    const found = await lstat(path);
    if (found.isSymbolicLink()) return "it is a symbolic link; name the file itself";
    if (found.isDirectory()) return "it is a folder";
    const led = await whyLinkRefused(path);
    if (led !== null) return led;
    if (!found.isFile()) return "it is not a regular file";
    if (found.size === 0) return "it is empty";
    if (found.size > MAX_ATTACHMENT_BYTES) return TOO_LARGE;
    const content = await readContent(path, signal);
    // It may have grown, or have been emptied, since.
    if (content.bytes === 0 || content.bytes !== found.size) return "it changes while it is read";
    return { field: "file", file: path, name, content };
  } catch (error) {
    return readProblem(error, path);
  }
}

const TOO_LARGE = `it has more than ${MAX_ATTACHMENT_BYTES / 1024 ** 2} MiB`;

/** `unsent`: an earlier file failed, and this one was not tried. */
export type AttachedFile = { readonly name: string; readonly bytes: number } & (
  | Posted<string>
  | { readonly outcome: "there" | "unsent" }
);

/**
 * One after the other; the first that fails ends it. A file whose name is on the ticket is taken for attached.
 * @param again attach it all the same
 */
export function attachFiles(
  request: TicketRequest,
  id: number,
  files: readonly FormFile[],
  { again }: { readonly again: boolean },
): Promise<
  | { readonly outcome: "done"; readonly files: readonly AttachedFile[] }
  | Extract<TicketOutcome<Ticket>, { readonly outcome: "refused" | "unread" }>
> {
  return inRun(request, async (run) => {
    const ticket = await readTicket(run.api, id, run.stopping);
    if (!ticket.ok) return { ...ticket, outcome: "unread" };
    if (isClosed(ticket.value)) return { outcome: "refused", ticket: ticket.value };
    const attached: AttachedFile[] = [];
    let isStopped = false;
    for (const file of files) {
      const count = ticket.value.attachments.filter((name) => name === file.name).length;
      const became = await attach(run, id, file, { count, again, isStopped: isStopped || run.stopping.aborted });
      attached.push({ name: file.name, bytes: file.content.bytes, ...became });
      isStopped = became.outcome !== "done" && became.outcome !== "there";
    }
    return { outcome: "done", files: attached };
  });
}

interface Before {
  /** Attachments of the file's name. */
  readonly count: number;
  readonly again: boolean;
  readonly isStopped: boolean;
}

async function attach(
  run: Run,
  id: number,
  form: FormFile,
  { count, again, isStopped }: Before,
): Promise<Posted<string> | { readonly outcome: "there" | "unsent" }> {
  if (isStopped) return { outcome: "unsent" };
  if (count > 0 && !again) return { outcome: "there" };
  return post<string>(run, {
    request: { method: "POST", path: [...ticketPath(id), "attachments"], form },
    read: () => form.name,
    look: async () => {
      const found = await readTicket(run.api, id, run.aborting);
      if (!found.ok) return found;
      return { ok: true, value: found.value.attachments.filter((name) => name === form.name).slice(count) };
    },
  });
}
