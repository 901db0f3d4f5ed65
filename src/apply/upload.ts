/** Upload: sends a file of the project to the signed URL that an earlier answer gave. */

import { realpath, stat } from "node:fs/promises";
import path from "node:path";
import { isBelow } from "../model/containment.ts";
import type { UploadStep } from "../model/step.ts";
import { isUnclear } from "./answer.ts";
import { announce, type Context, DONE, notDone, type StepResult } from "./context.ts";
import { localFailure, unresolved } from "./failures.ts";
import { resolveText } from "./resolve.ts";

/** The URL is handed to the client and to nobody else. */
export async function performUpload(step: UploadStep, context: Context): Promise<StepResult> {
  const url = resolveText(step.to, context.products);
  if (!url.ok) return notDone("failed", unresolved(url.missing));
  const file = await locate(context.root, step.file);
  if (!file.ok) return notDone("failed", localFailure("refused", "none", file.problem));
  const unwritten = await announce(
    { step: step.id, reason: "step", method: "upload", path: [step.file], body: null },
    context,
  );
  if (unwritten !== null) return unwritten;
  const answer = await context.api.upload({ url: url.value, file: file.path }, context.inFlight);
  if (answer.ok) return DONE;
  const outcome = isUnclear("PUT", answer.failure) ? "unknown" : "failed";
  // A 401 here is the word of the storage host, and says nothing about the token.
  return { ...notDone(outcome, answer.failure), halts: null };
}

type Located = { readonly ok: true; readonly path: string } | { readonly ok: false; readonly problem: string };

/** Symlinks may point about within the project, but not out of it: a pull request may be hostile. */
async function locate(root: string, file: string): Promise<Located> {
  try {
    const folder = await realpath(root);
    const target = await realpath(path.resolve(folder, file));
    if (!isBelow(target, folder)) return { ok: false, problem: `${file} lies outside the project folder` };
    if (!(await stat(target)).isFile()) return { ok: false, problem: `${file} is not a file` };
    return { ok: true, path: target };
  } catch (error) {
    return { ok: false, problem: `${file} cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}` };
  }
}
