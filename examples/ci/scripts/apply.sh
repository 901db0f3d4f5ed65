#!/usr/bin/env bash
# Applies, bound by a reviewed plan. usage: apply.sh PLAN
#   PROJECT   the project's folder; default: here
#   OUT       where the journal is left, made anew; default: tenon-out
# A plan file says what is applied: goal, environment, variables, flags. `--pin` takes none of it from the file: a plan of another goal, or
# made with what is not given here (a forged one could destroy, or apply another environment), is refused. Add your `--env` to both scripts.
# Leaves the journal in OUT. Ends with the exit code of `tenon apply`, and says what it means.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

plan=${1:?usage: apply.sh PLAN}
# It was unpacked from what a job has kept, which may hold anything.
if [[ -L $plan || -L $(dirname "$plan") || ! -f $plan ]]; then
  error "Refused" "The reviewed plan is not there, or a link."
  exit 1
fi
out=${OUT:-tenon-out}
fresh "$out"

apply() {
  local child code=0
  tenon apply "${PROJECT:-.}" --yes --pin --plan "$plan" --journal "$out/journal.jsonl" &
  child=$!
  # A cancelled job signals this shell alone. Handed on, tenon finishes what is in flight, and reports.
  trap 'kill -TERM "$child" 2>/dev/null || true' INT TERM
  wait "$child" || code=$?
  # A signal ends `wait` before tenon has ended.
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
