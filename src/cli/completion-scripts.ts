/**
 * What `tenon completion SHELL` prints: the files of the package's folder `completions`. Each script hands the words of the command line to
 * `tenon completion --complete`, the one that is being typed behind a `=`, so that no shell drops it when it is empty. The first line of the
 * answer is `files`, `dirs` or `none`; each further line is a candidate, or a candidate, a tab and its description. Candidates come from manifests that
 * may be hostile: each script hands them to its shell as data, and none evaluates them. Paths are completed by the shell itself: what a script
 * hands to a shell's own functions for paths may be carried out.
 */

import { readPackageFile } from "../files/package-files.ts";

/** Shell → the ending of its file. */
const ENDINGS = { bash: "bash", zsh: "zsh", fish: "fish", powershell: "ps1" } as const;

export type Shell = keyof typeof ENDINGS;

export const SHELLS: readonly Shell[] = Object.keys(ENDINGS) as Shell[];

export function readScript(shell: Shell): string {
  return readPackageFile(`completions/tenon.${ENDINGS[shell]}`);
}
