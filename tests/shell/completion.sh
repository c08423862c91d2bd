#!/bin/sh
# completion.sh PROGRAM SHELL FILE: what the completion of a shell offers. Exit 77: there is no such shell here.
set -u
LXPLAN=$1 shell=$2 file=$3
command -v "$shell" >/dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
ln -s "$LXPLAN" "$folder/lxplan"
printf '{}' >"$folder/some_pattern.json"
PATH=$folder:$PATH
export PATH HOME="$folder" XDG_CONFIG_HOME="$folder/config"
cd "$folder" || exit 3

# Offers for a line that ends at the cursor, one per line.
offers() {
    case $shell in
    fish) fish --no-config -c "source '$file'; complete -C '$1'" | cut -f 1 ;;
    zsh) # the machinery of zsh wants a terminal: its verbs are told here, and what they are given is printed
        zsh -f -c 'compdef() { :; }
            compadd() { shift; print -l -- "$@"; }
            compset() { before=${PREFIX%,*},; [[ $PREFIX == *,* ]] && PREFIX=${PREFIX##*,}; }
            _files() { print -l -- *(N); }
            source "$1"
            words=("${(@s: :)2}") CURRENT=$#words PREFIX=$words[-1]
            _lxplan | while read -r word; do [[ $word == $PREFIX* || $words[-1] == *,* ]] && print -r -- "$word"; done' \
            zsh "$file" "$1" ;;
    esac
}
failed=0
has() { # LINE OFFER
    offers "$1" | grep -q -x -F -e "$2" && return
    echo "completion.sh: $shell offers no \"$2\" for \"$1\" but:"
    offers "$1"
    failed=1
}
has_not() {
    offers "$1" | grep -q -x -F -e "$2" || return
    echo "completion.sh: $shell offers \"$2\" for \"$1\""
    failed=1
}
for command in $("$LXPLAN" help --names); do has 'lxplan ' "$command"; done
has 'lxplan pl' plan
has 'lxplan so' some_pattern.json
has 'lxplan help re' report
has 'lxplan plan --so' --solver
has 'lxplan some_pattern.json --th' --theme
has 'lxplan plan --solver ' exact
has 'lxplan plan some_pattern.json -s ' bestfit
has_not 'lxplan plan --solver ' some_pattern.json
has 'lxplan plan ' some_pattern.json
has 'lxplan plan -o ' some_pattern.json
has 'lxplan gen ' flash
has 'lxplan gen flash --' --kv
has 'lxplan report --fail-on worse,' "$([ "$shell" = fish ] && echo worse,)slower"
exit $failed
