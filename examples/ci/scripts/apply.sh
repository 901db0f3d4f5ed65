#!/usr/bin/env bash
# Applies, bound by a reviewed plan. usage: apply.sh PLAN
#   PROJECT   the project's folder; default: here
# A plan file says what is applied: goal, environment, variables. Here it must say no other than `plan.sh` asks for, as a forged one could
# destroy, or apply another environment. Add your `--env` to both scripts, and to the check.
# Leaves the journal in tenon-out/. Ends with the exit code of `tenon apply`, and says what it means.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

plan=${1:?usage: apply.sh PLAN}
out=tenon-out
mkdir -p "$out"

as_asked='const { goal, inputs } = JSON.parse(fs.readFileSync(process.argv[1], "utf8")).tenon;
process.exit(goal === "apply" && inputs.environment === null && Object.keys(inputs.variables).length === 0 ? 0 : 1)'
if ! node --eval "$as_asked" "$plan" 2>/dev/null; then
  error "Tenon apply" "The plan file is damaged, or is not one that this pipeline makes: another goal, environment or other variables. Nothing was done."
  exit 1
fi

apply() {
  local child code=0
  tenon apply "${PROJECT:-.}" --yes --plan "$plan" --journal "$out/journal.jsonl" &
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
