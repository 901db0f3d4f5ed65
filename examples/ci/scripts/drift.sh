#!/usr/bin/env bash
# Looks for drift, and leaves in OUT what the next job needs: state (drift or clean) and drift.md.
#   PROJECT   the project's folder; default: here
#   RUN_URL   where a person finds this run; optional
#   OUT       the folder, made anew; default: tenon-out
# Ends with 0 whether or not there is drift; with the exit code of `tenon drift` if it could not tell.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

out=${OUT:-tenon-out}
fresh "$out"

code=0
tenon drift "${PROJECT:-.}" --format markdown >"$out/drift.md" 2>"$out/messages.txt" || code=$?
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
