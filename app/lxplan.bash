# Completion of lxplan for bash. It has no lists of its own: commands, options and words are what the program says.
_lxplan()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} program=${COMP_WORDS[0]} command='' first='' word
    COMPREPLY=()
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case $word in
            -*) ;;
            *) if [[ -z $command ]]; then command=$word; elif [[ -z $first ]]; then first=$word; fi ;;
        esac
    done
    if [[ -z $command || $command == help ]]; then
        [[ -z $command ]] && word='--help --version' || word=''
        mapfile -t COMPREPLY < <(compgen -W "$("$program" help --names 2>/dev/null) $word" -- "$cur")
        if [[ -z $command && ${#COMPREPLY[@]} -eq 0 ]]; then
            compopt -o filenames
            mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        fi
        return
    fi
    [[ " $("$program" help --names 2>/dev/null | tr '\n' ' ') " == *" $command "* ]] || command=explore # a file opens the explorer
    local words
    if [[ $prev == -* && $prev != -- ]]; then
        # 0: words, or none for files; 1: anything; 2: no option with a value
        words=$("$program" help --words "$command" "$prev" 2>/dev/null)
        case $? in
            0)  if [[ -z $words ]]; then
                    compopt -o filenames
                    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
                    return
                fi
                # several with commas between them
                local before=''
                [[ $cur == *,* ]] && before=${cur%,*},
                mapfile -t COMPREPLY < <(compgen -P "$before" -W "$words" -- "${cur##*,}")
                [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace
                return ;;
            1)  return ;;
        esac
    fi
    if [[ $cur == -* ]]; then
        # shellcheck disable=SC2086 # no file: no argument
        mapfile -t COMPREPLY < <(compgen -W "$("$program" help --options "$command" $first 2>/dev/null)" -- "$cur")
        return
    fi
    words=$("$program" help --words "$command" 2>/dev/null)
    if [[ -n $words ]]; then
        [[ -z $first ]] && mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
        return
    fi
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}
complete -F _lxplan lxplan
