# tenon completion for fish: tenon completion fish | source

# Asks once for each line: __tenon_lines.
function __tenon_ask
    set -l line (commandline -cp | string collect)
    test "$line" = "$__tenon_line"; and return
    set -g __tenon_line $line
    set -l words (commandline -opc)
    set -l current (commandline -ct | string replace -ra '[\'"\\\\]' '')
    set -g __tenon_lines (command $words[1] completion --complete -- $words[2..-1] "=$current" 2>/dev/null </dev/null)
end

function __tenon_forget --on-event fish_prompt
    set -e __tenon_line
end

function __tenon_complete
    __tenon_ask
    test (count $__tenon_lines) -gt 1; and printf '%s\n' $__tenon_lines[2..-1]
end

# fish itself completes paths, from the word as it is typed: its functions for that take it without quotes, and carry out what is in it.
function __tenon_wants_path
    __tenon_ask
    test (count $__tenon_lines) -eq 1; and contains -- "$__tenon_lines[1]" files dirs
end

complete -c tenon -f -a '(__tenon_complete)'
complete -c tenon -F -n __tenon_wants_path
