#!/usr/bin/env bash
# Installs these scripts and tenon in $RUNNER_TEMP/tenon, which checked-out files cannot reach. usage: install.sh [scripts]
#   PIPELINE  the commit from which the scripts, the lock file and the tool come: one of the default branch, never of a pull request
#   PROJECT   the project's folder; default: here
#   scripts   installs only the scripts, for jobs that do not run tenon
# Runs in the checkout, and reads none of its files: git outputs the committed bytes, whatever .gitattributes says.
set -euo pipefail
export GIT_NO_REPLACE_OBJECTS=1

into=${RUNNER_TEMP:?}/tenon
rm -rf -- "$into"
mkdir -- "$into"

# extract FOLDER NAMES: writes the regular files of the folder whose names match the pattern. Leaves links out.
extract() {
  local entry mode id name
  git ls-tree -z "${PIPELINE:?}:$1" >"$into/.list"
  while IFS= read -r -d '' entry; do
    read -r mode _ id <<<"${entry%%$'\t'*}"
    name=${entry#*$'\t'}
    if [[ $mode == 100* && $name =~ $2 ]]; then git cat-file blob "$id" >"$into/$name"; fi
  done <"$into/.list"
}

# plain NAME: replaces every character that could have a meaning in a log or on a page.
plain() {
  local LC_ALL=C
  printf '%s' "${1//[^A-Za-z0-9._\/-]/?}"
}

# Refuses files that npm, tenon or these scripts would use as their own: in the root, in the project, and in the folders between the two.
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

# Refuses attributes by which the checked-out text is another one than the committed one that was reviewed.
refuse_encodings() {
  local found
  found=$(git grep -a -l -e working-tree-encoding HEAD -- ':(top,glob)**/.gitattributes') || [[ $? == 1 ]] || exit 1
  if [[ -n $found ]]; then
    found=${found%%$'\n'*}
    error "Refused" "$(plain "${found#HEAD:}") sets working-tree-encoding: what is checked out would not be what was reviewed. Remove it."
    exit 1
  fi
}

extract ci/tenon '\.(sh|mjs)$'
source "$into/common.sh"
refuse_tracked
refuse_encodings
if [[ ${1:-} == scripts ]]; then exit 0; fi

extract ci/tool '^(package(-lock)?\.json|.*\.tgz)$'
cd -- "$into"
node lock.mjs hashes
# No configuration of a home folder or a checkout counts. No script of a package runs, and no package is left out. npm gets no token.
: >empty.npmrc
env -u TENON_TOKEN -u TENON_TOKEN_READ -u TENON_GITLAB_TOKEN \
  npm ci --userconfig "$into/empty.npmrc" --ignore-scripts --no-dry-run --no-audit --no-fund --no-update-notifier
node lock.mjs installed
# Only tenon goes onto the path: a dependency may bring commands with any name.
mkdir bin
ln -s -t bin ../node_modules/.bin/tenon
