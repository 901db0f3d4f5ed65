#!/usr/bin/env bash
# Plans. Writes to OUT plan.json (the bound of the apply) and comment.md for later jobs, and plan.html, the plan as a page, for people.
#   PROJECT   the project's folder; default: here
#   BASE      git ref of the base: only what the project declares otherwise than there is planned; optional, without it the whole project
#   LIVE      a snapshot to plan against, without a connection; optional
#   RUN_URL   the address of this run, for people; optional
#   OUT       the folder, created anew; default: tenon-out
# Ends with the exit code of `tenon plan`: 0, or 4 if consent is missing.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

out=${OUT:-tenon-out}
fresh "$out"
options=(--format markdown --out "$out/plan.json" --html-into "$out/plan.html" --fail-on refused)
if [[ -n ${BASE:-} ]]; then options+=(--changed-since "$BASE"); fi
if [[ -n ${LIVE:-} ]]; then options+=(--live "$LIVE"); fi

code=0
tenon plan "${PROJECT:-.}" "${options[@]}" >"$out/plan.md" 2>"$out/messages.txt" || code=$?
untrusted cat "$out/messages.txt"
# The log is read as text: the same plan, without the marks of the comment, and once in the step's summary.
if [[ ! -s $out/plan.json ]] || ! GITHUB_STEP_SUMMARY='' untrusted tenon show "$out/plan.json"; then untrusted cat "$out/plan.md"; fi

# If there is no plan, the comment shows the messages. An indent of four spaces makes them a code block, whatever they contain.
{
  echo "<!-- tenon-plan ${PROJECT:-.} -->"
  if [[ -s $out/plan.md ]]; then
    cat "$out/plan.md"
  else
    printf '### Tenon: no plan (exit code %s)\n\n%s\n\n' "$code" "$(meaning "$code")"
    shortened "$out/messages.txt" | tr --delete '\r' | sed 's/^/    /'
    echo
  fi
  page=
  if [[ -s $out/plan.html ]]; then page=', with the plan as a page (`plan.html`) among its artifacts'; fi
  if [[ -n ${RUN_URL:-} ]]; then printf '\n[This run](%s)%s\n' "$RUN_URL" "$page"; fi
} >"$out/comment.md"

if ((code != 0)); then error "Tenon plan, exit code $code" "$(meaning "$code")"; fi
exit "$code"
