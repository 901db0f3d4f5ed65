#!/usr/bin/env bash
# Checks for drift. Writes to OUT state (drift or clean) and drift.md for the next job, and drift.html, the same as a page, for people.
#   PROJECT   the project's folder; default: here
#   RUN_URL   the address of this run, for people; optional
#   OUT       the folder, created anew; default: tenon-out
# Ends with 0 whether or not there is drift. If the check fails, ends with the exit code of `tenon drift`.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

out=${OUT:-tenon-out}
fresh "$out"

code=0
tenon drift "${PROJECT:-.}" --format markdown --html-into "$out/drift.html" >"$out/drift.md" 2>"$out/messages.txt" || code=$?
untrusted cat "$out/messages.txt" "$out/drift.md"
if [[ -n ${RUN_URL:-} ]]; then printf '\n[The run that saw it](%s)\n' "$RUN_URL" >>"$out/drift.md"; fi

case $code in
  0) echo clean >"$out/state" ;;
  2) echo drift >"$out/state" ;;
  *)
    error "Tenon drift, exit code $code" "$(meaning "$code")"
    exit "$code"
    ;;
esac
