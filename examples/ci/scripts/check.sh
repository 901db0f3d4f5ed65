#!/usr/bin/env bash
# Checks the format and the validity of the manifests. Needs no token.
#   PROJECT   the project's folder; default: here
# Runs both checks, and ends with the exit code of the last one that failed.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

code=0
# Both print names and lines of the pull request.
untrusted tenon fmt "${PROJECT:-.}" --check || code=$?
untrusted tenon validate "${PROJECT:-.}" --strict || code=$?
if ((code != 0)); then error "Tenon, exit code $code" "Not in its one form, or not valid: the messages say where."; fi
exit "$code"
