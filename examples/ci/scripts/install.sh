#!/usr/bin/env bash
# Puts these scripts, and tenon, into $RUNNER_TEMP/tenon: out of reach of what is checked out. usage: install.sh [scripts]
#   PIPELINE  the commit whose scripts, lock file and tool are taken: of the default branch, never a pull request's own
#   PROJECT   the project's folder; default: here
#   scripts   the scripts alone, for jobs that do not run tenon
# Runs in the checkout, and reads none of its files: git hands over what was committed, byte for byte, whatever .gitattributes says.
set -euo pipefail
export GIT_NO_REPLACE_OBJECTS=1

into=${RUNNER_TEMP:?}/tenon
rm -rf -- "$into"
mkdir -- "$into"

# extract FOLDER NAMES: its files, links left out, whose names fit the pattern.
extract() {
  local entry mode id name
  git ls-tree -z "${PIPELINE:?}:$1" >"$into/.list"
  while IFS= read -r -d '' entry; do
    read -r mode _ id <<<"${entry%%$'\t'*}"
    name=${entry#*$'\t'}
    if [[ $mode == 100* && $name =~ $2 ]]; then git cat-file blob "$id" >"$into/$name"; fi
  done <"$into/.list"
}

# plain NAME: in letters that mean nothing to a log or a page.
plain() {
  local LC_ALL=C
  printf '%s' "${1//[^A-Za-z0-9._\/-]/?}"
}

# What npm, tenon or these scripts would take for their own, in the root, in the project, and between the two.
refuse_tracked() {
  local place='' part name parts
  IFS=/ read -r -a parts <<<"./${PROJECT:-.}"
  for part in "${parts[@]}"; do
    if [[ -n $part && $part != . ]]; then place+=$part/; fi
    git ls-tree -z --name-only "HEAD:$place" >"$into/.list"
    while IFS= read -r -d '' name; do
      case $name in
        .npmrc | node_modules | vendor | .tenon | tenon-*)
          error "Refused" "The repository tracks $(plain "$place$name"), which npm, the tool or this pipeline would take for its own. Remove it: git rm -r --cached"
          exit 1
          ;;
      esac
    done <"$into/.list"
  done
}

extract ci/tenon '\.(sh|mjs)$'
source "$into/common.sh"
refuse_tracked
if [[ ${1:-} == scripts ]]; then exit 0; fi

extract ci/tool '^(package(-lock)?\.json|.*\.tgz)$'
cd -- "$into"
node lock.mjs hashes
# Nothing of a home or of a checkout says how: no script runs, and nothing is left out. No token is there to be read.
: >empty.npmrc
env -u TENON_TOKEN -u TENON_TOKEN_READ -u TENON_GITLAB_TOKEN \
  npm ci --userconfig "$into/empty.npmrc" --ignore-scripts --no-dry-run --no-audit --no-fund --no-update-notifier
node lock.mjs installed
# This name alone goes onto the path: a dependency may have commands with any name.
mkdir bin
ln -s -t bin ../node_modules/.bin/tenon
