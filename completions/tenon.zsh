#compdef tenon
# tenon completion for zsh: source <(tenon completion zsh), or a file _tenon in fpath
_tenon() {
  local line value mode
  local -a lines values shown open
  lines=("${(@f)$("${(Q)words[1]/#\~/$HOME}" completion --complete -- "${(@Q)words[2,CURRENT-1]}" "=${(Q)PREFIX}" 2>/dev/null </dev/null)}")
  mode=${lines[1]}
  for line in "${(@)lines[2,-1]}"; do
    [[ -z $line ]] && continue
    value=${line%%$'\t'*}
    if [[ $value == *= ]]; then
      open+=("$value")
    else
      values+=("$value")
      if [[ $line == *$'\t'* ]]; then
        shown+=("$value  -- ${line#*$'\t'}")
      else
        shown+=("$value")
      fi
    fi
  done
  (( $#open )) && compadd -S '' -- "${open[@]}"
  (( $#values )) && compadd -l -d shown -- "${values[@]}"
  if (( ! $#open && ! $#values )); then
    [[ $PREFIX == --*=* ]] && compset -P 1 '*='
    case $mode in
      files) _files ;;
      dirs) _files -/ ;;
    esac
  fi
}
if [[ ${funcstack[1]} == _tenon ]]; then
  _tenon "$@"
else
  compdef _tenon tenon
fi
