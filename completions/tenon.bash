# tenon completion for bash 4.1 or newer: source <(tenon completion bash)

# The quote that is open at the end of a word, and where: _tenon_quote, _tenon_quoted_at.
_tenon_find_quote() {
  local character i
  _tenon_quote='' _tenon_quoted_at=0
  for ((i = 0; i < ${#1}; i++)); do
    character=${1:i:1}
    if [[ -z $_tenon_quote ]]; then
      case $character in
        \\) i=$((i + 1)) ;;
        [\'\"]) _tenon_quote=$character _tenon_quoted_at=$i ;;
      esac
    elif [[ $character == "$_tenon_quote" ]]; then
      _tenon_quote=''
    elif [[ $_tenon_quote == '"' && $character == \\ ]]; then
      i=$((i + 1))
    fi
  done
}

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
  local _tenon_quote _tenon_quoted_at
  _tenon_find_quote "$raw"
  # What a quote within a word holds cannot be told from what stands before it.
  COMPREPLY=()
  [[ -z $_tenon_quote ]] || ((_tenon_quoted_at == 0)) || return 0
  words=("${words[@]//[\'\"\\]/}")
  local cur=${words[${#words[@]} - 1]} output mode='' value prefix=''
  output=$("${words[0]/#\~/$HOME}" completion --complete -- "${words[@]:1:${#words[@]} - 2}" "=$cur" 2>/dev/null </dev/null) || return 0
  [[ -n $_tenon_quote ]] || prefix=${cur%"${cur##*[:=]}"}
  while IFS=$'\t' read -r value _; do
    if [[ -z $mode ]]; then
      mode=$value
      continue
    fi
    value=${value#"$prefix"}
    # In double quotes bash expands a `!`, and a backslash before it would become part of the word.
    [[ $_tenon_quote == '"' && $value == *'!'* ]] && continue
    case $_tenon_quote in
      \') value=${value//\'/\'\\\'\'} ;;
      \") value=${value//\\/\\\\} value=${value//\"/\\\"} value=${value//\$/\\\$} value=${value//\`/\\\`} ;;
      *) printf -v value %q "$value" ;;
    esac
    COMPREPLY+=("$value")
  done <<<"$output"
  if ((${#COMPREPLY[@]} == 0)) && [[ $mode == files || $mode == dirs ]]; then
    # Readline completes the path, as without this script. `compgen -f`, given a word without its quotes, runs commands that stand in it.
    compopt -o default
  elif ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == *= ]]; then
    compopt -o nospace
  fi
}
complete -F _tenon tenon
