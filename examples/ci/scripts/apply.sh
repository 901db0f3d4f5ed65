#!/usr/bin/env bash
# Applies the project, bounded by a reviewed plan. usage: apply.sh PLAN
#   PROJECT   the project's folder; default: here
#   BASE      the commit that the default branch had before the merge: what the project declares otherwise than there is applied; without it, or if it
#             is all zeros, the whole project. The reviewed plan must be about the same objects (exit code 5).
#   OUT       the folder for the journal, and for report.html, the report as a page, created anew; default: tenon-out
# A plan file contains a goal, environment, variables and flags, and a forged file could ask for a destroy or for another environment. `--pin`
# refuses a plan whose goal or flags differ from those given here. Add your `--env` to plan.sh and to this script.
# Ends with the exit code of `tenon apply`, and explains it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

plan=${1:?usage: apply.sh PLAN}
# The plan comes from an artifact, which may contain anything, for example a link.
if [[ -L $plan || -L $(dirname "$plan") || ! -f $plan ]]; then
  error "Refused" "The reviewed plan is not there, or a link."
  exit 1
fi
out=${OUT:-tenon-out}
fresh "$out"

options=(--yes --pin --plan "$plan" --journal "$out/journal.jsonl" --html-into "$out/report.html")
if [[ ${BASE:-} =~ [^0] ]]; then options+=(--changed-since "$BASE"); fi

apply() {
  local child="" cancelled="" code=0
  # A cancelled job signals only this shell. tenon needs the signal to finish the requests in flight and to report.
  trap 'cancelled=yes; kill -TERM $child 2>/dev/null || true' INT TERM
  tenon apply "${PROJECT:-.}" "${options[@]}" &
  child=$!
  # The signal may have come before its number was known here.
  if [[ -n $cancelled ]]; then kill -TERM "$child" 2>/dev/null || true; fi
  wait "$child" || code=$?
  # A signal interrupts `wait`, although tenon still runs.
  while kill -0 "$child" 2>/dev/null; do
    code=0
    wait "$child" || code=$?
  done
  return "$code"
}

code=0
untrusted apply || code=$?
if ((code != 0)); then error "Tenon apply, exit code $code" "$(meaning "$code")"; fi
exit "$code"
