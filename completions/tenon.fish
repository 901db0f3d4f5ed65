# tenon completion for fish: tenon completion fish | source
function __tenon_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct | string replace -ra '[\'"\\\\]' '')
    set -l lines (command $words[1] completion --complete -- $words[2..-1] "=$current" 2>/dev/null </dev/null)
    if test (count $lines) -gt 1
        printf '%s\n' $lines[2..-1]
    else if test "$lines[1]" = files
        __fish_complete_path "$current"
    else if test "$lines[1]" = dirs
        __fish_complete_directories "$current"
    end
end
complete -c tenon -f -a '(__tenon_complete)'
