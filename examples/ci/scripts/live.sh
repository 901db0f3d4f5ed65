#!/usr/bin/env bash
# Writes a snapshot of the account to live.json, for plans without a token.
#   PROJECT   the project's folder; default: here
#   OUT       the folder for live.json, created anew; default: tenon-snapshot
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

out=${OUT:-tenon-snapshot}
fresh "$out"

code=0
untrusted tenon live "${PROJECT:-.}" --out "$out/live.json" || code=$?
if ((code != 0)); then error "Tenon live, exit code $code" "$(meaning "$code")"; fi
exit "$code"
