# tenon completion for bash 4.1 or newer: source <(tenon completion bash)
_tenon() {
  local rest=${COMP_LINE:0:COMP_POINT} stripped word raw='' i
  local -a words=()
  # bash splits at = and :, which stand within addresses and consents: what no blank separates is one word.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    stripped=${rest#"${rest%%[![:space:]]*}"}
    word=${COMP_WORDS[i]}
    ((i == COMP_CWORD)) && word=$stripped
    if ((i > 0)) && [[ -n $rest && $stripped == "$rest" ]]; then
      words[${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
    rest=${stripped#"$word"}
  done
  raw=${words[${#words[@]} - 1]}
  words=("${words[@]//[\'\"\\]/}")
  local cur=${words[${#words[@]} - 1]} output mode='' value prefix=''
  output=$("${words[0]/#\~/$HOME}" completion --complete -- "${words[@]:1:${#words[@]} - 2}" "=$cur" 2>/dev/null </dev/null) || return 0
  [[ $raw == [\'\"]* ]] || prefix=${cur%"${cur##*[:=]}"}
  COMPREPLY=()
  while IFS=$'\t' read -r value _; do
    if [[ -z $mode ]]; then
      mode=$value
      continue
    fi
    value=${value#"$prefix"}
    case $raw in
      \'*) value=${value//\'/\'\\\'\'} ;;
      \"*) value=${value//\\/\\\\} value=${value//\"/\\\"} value=${value//\$/\\\$} value=${value//\`/\\\`} ;;
      *) printf -v value %q "$value" ;;
    esac
    COMPREPLY+=("$value")
  done <<<"$output"
  if ((${#COMPREPLY[@]} == 0)) && [[ $mode == files || $mode == dirs ]]; then
    compopt -o filenames
    local action=-f
    [[ $mode == dirs ]] && action=-d
    while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen "$action" -- "${cur#"$prefix"}")
  elif ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == *= ]]; then
    compopt -o nospace
  fi
}
complete -F _tenon tenon
