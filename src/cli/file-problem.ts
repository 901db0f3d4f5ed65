/** What the file system says about a file that somebody named, in words: no codes, and no names of our own temporary files. */

/** @returns a clause, for example `there is no such file: a.plan` */
export function readProblem(error: unknown, file: string): string {
  switch (codeOf(error)) {
    case "ENOENT":
    case "ENOTDIR":
      return `there is no such file: ${file}`;
    default:
      return commonProblem(error, file);
  }
}

/** @returns a clause, for example `there is no folder /nosuch/dir` */
export function writeProblem(error: unknown, file: string): string {
  switch (codeOf(error)) {
    case "ENOENT":
    case "ENOTDIR":
      return `there is no folder for ${file}`;
    case "EISDIR":
      return `${file} is a folder`;
    default:
      return commonProblem(error, file);
  }
}

function commonProblem(error: unknown, file: string): string {
  const code = codeOf(error);
  switch (code) {
    case undefined:
      return error instanceof Error ? error.message : String(error);
    case "EACCES":
    case "EPERM":
      return `there is no right to it: ${file}`;
    case "EROFS":
      return `it can only be read there: ${file}`;
    case "ENOSPC":
    case "EDQUOT":
      return `there is no space left for ${file}`;
    case "ENAMETOOLONG":
      return `its name is too long: ${file}`;
    case "ELOOP":
      return `its links lead in a circle: ${file}`;
    default:
      return `${file} (${code})`;
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}
