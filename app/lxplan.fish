# Completion of lxplan for fish. It has no lists of its own: commands, options and words are what the program says.
function __lxplan_complete
    set -l tokens (commandline -opc)
    set -l current (commandline -ct)
    set -l program $tokens[1]
    set -l previous $tokens[-1]
    set -l command ''
    set -l first
    for word in $tokens[2..-1]
        string match -q -- '-*' $word; and continue
        if test -z "$command"
            set command $word
        else if test -z "$first"
            set first $word
        end
    end
    set -l names ($program help --names 2>/dev/null)
    if test -z "$command" -o "$command" = help
        printf '%s\n' $names
        if test -z "$command"
            printf '%s\n' --help --version
            __fish_complete_path $current
        end
        return
    end
    contains -- $command $names; or set command explore # a file opens the explorer
    if string match -q -- '-*' $previous; and test "$previous" != --; and test (count $tokens) -gt 1
        # 0: words, or none for files; 1: anything; 2: no option with a value
        set -l words ($program help --words $command $previous 2>/dev/null)
        switch $status
            case 0
                if test (count $words) -eq 0
                    __fish_complete_path $current
                else
                    set -l before (string replace -r '[^,]*$' '' -- $current) # several with commas between them
                    printf '%s\n' $before$words
                end
                return
            case 1
                return
        end
    end
    if string match -q -- '-*' $current
        $program help --options $command $first 2>/dev/null
        return
    end
    set -l words ($program help --words $command 2>/dev/null)
    if test (count $words) -gt 0
        test -z "$first"; and printf '%s\n' $words
        return
    end
    __fish_complete_path $current
end
complete -c lxplan -f -a '(__lxplan_complete)'
