# Sourced by the other scripts: puts tenon on the path, and explains exit codes to a person.

# install.sh has put tenon beside these scripts. Its folder comes first, so that no other command called tenon runs.
PATH="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/bin:$PATH"

# fresh FOLDER: creates an empty folder in place of whatever was checked out there. A link is removed, its target is not.
fresh() {
  rm -rf -- "$1"
  mkdir -- "$1"
}

# error TITLE TEXT: an annotation on GitHub, a line in the log elsewhere. Pass only fixed text, never text of the account.
error() {
  if [[ ${GITHUB_ACTIONS:-} == true ]]; then
    printf '::error title=%s::%s\n' "$1" "$2"
  else
    printf '%s: %s\n' "$1" "$2" >&2
  fi
  if [[ -n ${GITHUB_STEP_SUMMARY:-} ]]; then
    printf '**%s:** %s\n\n' "$1" "$2" >>"$GITHUB_STEP_SUMMARY"
  fi
}

# untrusted COMMAND…: runs a command whose output may contain text of the project. GitHub executes log lines that begin with `::`, and a record may
# contain such a line.
untrusted() {
  local code=0 word
  word=$(node --print 'crypto.randomUUID()')
  if [[ ${GITHUB_ACTIONS:-} == true ]]; then printf '::stop-commands::%s\n' "$word"; fi
  "$@" || code=$?
  if [[ ${GITHUB_ACTIONS:-} == true ]]; then printf '::%s::\n' "$word"; fi
  return "$code"
}

# shortened FILE: the beginning and the end of a file that is too long for a comment, and how much is left out. The log has the whole file.
shortened() {
  local half=15000 size
  size=$(wc --bytes <"$1")
  if ((size <= 2 * half)); then
    cat "$1"
    return
  fi
  head --bytes "$half" "$1"
  printf '\n\n[%s of %s bytes are left out here. The log of this run has all of it.]\n\n' "$((size - 2 * half))" "$size"
  tail --bytes "$half" "$1"
}

# meaning CODE: explains an exit code of tenon in one line.
meaning() {
  case $1 in
    0) echo "Done." ;;
    1) echo "An error: the messages say which. Nothing is known to be wrong with the manifest." ;;
    2) echo "Changes are pending." ;;
    3) echo "The manifest is invalid: the messages name file, line and column." ;;
    4) echo "Refused, and nothing was done: consent is missing (allow: in the root file), something is protected, or the account does not fit." ;;
    5) echo "Not within the reviewed plan, and nothing was done: the account or the branch has changed since. Plan anew, and have that plan reviewed." ;;
    6) echo "Applied in part: something failed, was skipped, or is blocked. Mend it and run this job again: the same plan goes on." ;;
    129 | 130 | 143) echo "Interrupted. Run this job again: the same plan goes on where it stopped." ;;
    137) echo "Killed. Run this job again: the same plan goes on where it stopped." ;;
    *) echo "Ended with the unknown exit code $1." ;;
  esac
}
