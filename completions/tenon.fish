# tenon completion for fish: tenon completion fish | source

# Puts the answer for the line so far into __tenon_lines. Candidates and paths are asked for one after another, and Tenon once.
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

# With -F fish completes paths itself. Its functions __fish_complete_path and __fish_complete_directories, given a word without its quotes, run
# completions of other commands that stand in it.
function __tenon_wants_path
    __tenon_ask
    test (count $__tenon_lines) -eq 1; and contains -- "$__tenon_lines[1]" files dirs
end

complete -c tenon -f -a '(__tenon_complete)'
complete -c tenon -F -n __tenon_wants_path
