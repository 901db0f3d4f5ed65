#!/usr/bin/env bash
# Installs these scripts and tenon in $RUNNER_TEMP/tenon, which checked-out files cannot reach. usage: install.sh [scripts]
#   PIPELINE  the commit from which the scripts, the lock file and the tool come: one of the default branch, never of a pull request
#   PROJECT   the project's folder; default: here
#   GIT_LFS_SKIP_SMUDGE   0 if the project uploads files of LFS, and the checkout has them; default: 1, they stay pointers
#   scripts   installs only the scripts, for jobs that do not run tenon
# Runs in the checkout, and reads none of its files: git outputs the committed bytes, whatever .gitattributes says. For tenon the checkout gets them, too.
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

# Checks out the committed bytes. By attributes of the repository, which git reads from a link of their name as well, the root file could have another
# text than the one that was reviewed: those of the clone come before them.
check_out() {
  local top attributes
  top=$(git rev-parse --show-toplevel)
  attributes=$(git rev-parse --git-path info/attributes)
  mkdir -p -- "$(dirname -- "$attributes")"
  printf '* -text -ident !working-tree-encoding\n' >"$attributes"
  # Without -m, git forgets which files it has written already.
  git read-tree HEAD
  GIT_LFS_SKIP_SMUDGE=${GIT_LFS_SKIP_SMUDGE:-1} git -C "$top" checkout-index --all --force --index
}

extract ci/tenon '\.(sh|mjs)$'
source "$into/common.sh"
refuse_tracked
if [[ ${1:-} == scripts ]]; then exit 0; fi
check_out

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
