/** Upload: sends a file of the project to the signed URL that an earlier answer gave. */

import { realpath, stat } from "node:fs/promises";
import path from "node:path";
import { isBelow } from "../model/containment.ts";
import type { Failure } from "../model/failure.ts";
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
  const limitMilliseconds = millisecondsLeft(step, context);
  if (limitMilliseconds <= 0) return notDone("failed", givenUp(step));
  const answer = await context.api.upload({ url: url.value, file: file.path, limitMilliseconds }, context.inFlight);
  if (answer.ok) return DONE;
  const isAborted = answer.failure.type === "aborted" && !context.inFlight.aborted;
  if (isAborted) return notDone("failed", { ...givenUp(step), attempts: answer.failure.attempts });
  const outcome = isUnclear("PUT", answer.failure) ? "unknown" : "failed";
  // A 401 here is the word of the storage host, and says nothing about the token.
  return { ...notDone(outcome, answer.failure), halts: null };
}

/** Other runs take the image for abandoned after its time: no byte may be sent for it later. */
function millisecondsLeft({ to, limitSeconds }: UploadStep, { clock, producedAt }: Context): number {
  const now = clock.now();
  return (producedAt.get(to.ref) ?? now) + limitSeconds * 1000 - now;
}

function givenUp({ limitSeconds }: UploadStep): Failure {
  const message = `the upload was given up after ${durationText(limitSeconds)}; a larger --upload-timeout gives it more time`;
  return localFailure("unavailable", "unknown", message);
}

/** `90 s`, `5 min`, `2 h`: in the largest unit that fits. */
function durationText(seconds: number): string {
  if (seconds % 3600 === 0) return `${seconds / 3600} h`;
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
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
