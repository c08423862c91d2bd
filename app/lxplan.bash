# Completion of lxplan for bash. Options are those that the program lists in its own help.
_lxplan()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} program=${COMP_WORDS[0]} command='' word
    local commands='explore plan check run show diff solvers import export gen loops bench report help'
    COMPREPLY=()
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case $word in
            -*) ;;
            *) command=$word; break ;;
        esac
    done
    if [[ -z $command ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$commands --help --version" -- "$cur")
        return
    fi
    case $prev in
        -s|--solver)
            # bench takes several, with commas between them
            local before=''
            [[ $command == bench && $cur == *,* ]] && before=${cur%,*},
            mapfile -t COMPREPLY < <(compgen -P "$before" -W "$("$program" solvers --names 2>/dev/null)" -- "${cur##*,}")
            return ;;
        --verify)
            mapfile -t COMPREPLY < <(compgen -W 'full outputs none' -- "$cur")
            return ;;
        --theme)
            mapfile -t COMPREPLY < <(compgen -W 'dark light eight mono' -- "$cur")
            return ;;
        --by)
            mapfile -t COMPREPLY < <(compgen -W 'solver instance' -- "$cur")
            return ;;
        --objective)
            mapfile -t COMPREPLY < <(compgen -W 'traffic spill time fit height' -- "$cur")
            return ;;
        --transport)
            local transports='threads mpi'
            [[ $command == bench ]] && transports='local mpi'
            mapfile -t COMPREPLY < <(compgen -W "$transports" -- "$cur")
            return ;;
        --stage)
            mapfile -t COMPREPLY < <(compgen -W 'graph layout team divide scratchpad launch loops' -- "$cur")
            return ;;
        --order)
            mapfile -t COMPREPLY < <(compgen -W 'row_major column_major block match_shard morton' -- "$cur")
            return ;;
        --cooptimise)
            mapfile -t COMPREPLY < <(compgen -W 'none flip full' -- "$cur")
            return ;;
        --matmul)
            mapfile -t COMPREPLY < <(compgen -W 'cost rule' -- "$cur")
            return ;;
        --clone)
            mapfile -t COMPREPLY < <(compgen -W 'auto heuristic none' -- "$cur")
            return ;;
        --upto)
            mapfile -t COMPREPLY < <(compgen -W 'baseline reductions in-place all' -- "$cur")
            return ;;
        --rules)
            mapfile -t COMPREPLY < <(compgen -W 'lxplan document' -- "$cur")
            return ;;
        -p|--passes)
            mapfile -t COMPREPLY < <(compgen -W 'reorder_fusing split fuse primitives reorder_shared shared none' -- "$cur")
            return ;;
        -f|--format)
            local formats='text md csv json'
            [[ $command == export ]] && formats=$("$program" export --help 2>/dev/null |
                sed -n '/^formats that are written/,$ s/^  \([a-z_]*\) .*/\1/p')
            mapfile -t COMPREPLY < <(compgen -W "$formats" -- "$cur")
            return ;;
        -D|--device)
            mapfile -t COMPREPLY < <(compgen -S = -W "$("$program" plan --help 2>/dev/null |
                sed -n '/^parameters of a device/,$ s/^  \([a-z_]*\) .*/\1/p')" -- "$cur")
            compopt -o nospace
            return ;;
        --seed|--seeds|--repeat|--warmup|--memory|--within|-j|--jobs|--threads|--team|--patience|--data|--work|--time|--cores|--lx|--width|--height|--capacity|-O|--option|--explain)
            return ;;
    esac
    if [[ $cur == -* ]]; then
        local kind=''
        [[ $command == gen ]] && kind=${COMP_WORDS[2]}
        [[ $kind == -* ]] && kind=''
        # shellcheck disable=SC2086 # no kind: no argument
        mapfile -t COMPREPLY < <(compgen -W "$("$program" "$command" $kind --help 2>/dev/null |
            grep -o -- '^  \(-., \|    \)--[a-z_-]*' | grep -o -- '--.*')" -- "$cur")
        return
    fi
    case $command in
        help) mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$cur") ;;
        solvers) mapfile -t COMPREPLY < <(compgen -W "$("$program" solvers --names 2>/dev/null)" -- "$cur") ;;
        gen)
            if [[ $COMP_CWORD -eq 2 ]]; then
                mapfile -t COMPREPLY < <(compgen -W "$("$program" gen --help 2>/dev/null |
                    sed -n 's/^\([a-z]*\): .*/\1/p' | grep -v '^usage$')" -- "$cur")
            elif [[ $prev == -o || $prev == --output ]]; then
                compopt -o filenames
                mapfile -t COMPREPLY < <(compgen -f -- "$cur")
            fi ;;
        *)
            compopt -o filenames
            mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    esac
}
complete -F _lxplan lxplan
