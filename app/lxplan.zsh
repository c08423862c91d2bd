#compdef lxplan
# Completion of lxplan for zsh. It has no lists of its own: commands, options and words are what the program says.
_lxplan()
{
    local program=$words[1] command='' first='' word list previous=$words[CURRENT-1]
    local -a names
    for word in "${(@)words[2,CURRENT-1]}"; do
        case $word in
            -*) ;;
            *) if [[ -z $command ]]; then command=$word; elif [[ -z $first ]]; then first=$word; fi ;;
        esac
    done
    names=(${=$("$program" help --names 2>/dev/null)})
    if [[ -z $command || $command == help ]]; then
        compadd -- $names
        [[ -z $command ]] && compadd -- --help --version && _files
        return
    fi
    (( ${names[(Ie)$command]} )) || command=explore # a file opens the explorer
    if [[ $previous == -* && $previous != -- ]]; then
        # 0: words, or none for files; 1: anything; 2: no option with a value
        list=$("$program" help --words "$command" "$previous" 2>/dev/null)
        case $? in
            0)  if [[ -z $list ]]; then
                    _files
                else
                    compset -P '*,' # several with commas between them
                    compadd -- ${=list}
                fi
                return ;;
            1)  return ;;
        esac
    fi
    if [[ $PREFIX == -* ]]; then
        compadd -- ${=$("$program" help --options "$command" $first 2>/dev/null)}
        return
    fi
    list=$("$program" help --words "$command" 2>/dev/null)
    if [[ -n $list ]]; then
        [[ -z $first ]] && compadd -- ${=list}
        return
    fi
    _files
}
if [[ $funcstack[1] == _lxplan ]]; then _lxplan "$@"; else compdef _lxplan lxplan; fi
