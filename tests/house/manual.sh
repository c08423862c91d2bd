#!/bin/bash
# manual.sh PROGRAM PAGE COMPLETION PATTERN: every command and option of the tables is in the manual page, in the help and in
# completions, and nothing stands there that no table has.
set -u
export LC_ALL=C.UTF-8 NO_COLOR=1
program=$1 page=$2 completion=$3 pattern=$4 failed=0
fail() { echo "manual.sh: $*"; failed=1; }
has() { [[ $1 == *"$2"* ]]; }

manual=$(sed 's/\\-/-/g' "$page")            # as it is typed
options=$(sed -n '/^\.SH OPTIONS/,/^\.SH EXIT/p' <<<"$manual")
described=$(sed -n '/^\.SH COMMANDS/,/^\.SH OPTIONS/p' <<<"$manual")
commands=$("$program" help --names) || fail "help --names ends with $?"
[ "$(wc -l <<<"$commands")" -ge 10 ] || fail "few commands: $commands"
general=$("$program" --help)
known="--help --version --"
planning=$(sed -n '/^\.SS Planning options/,/^\.SS lxplan/p' <<<"$options")
for command in $commands; do
    [ "$command" = help ] && continue
    has "$general" "  $command " || fail "lxplan --help does not list $command"
    has "$manual" ".B lxplan $command" || fail "the synopsis of the page has no $command"
    grep -q -x -F -- ".B $command" <<<"$described" || fail "the section COMMANDS of the page has no $command"
    own=$(sed -n "/^\.SS lxplan $command\$/,/^\.S[SH] /p" <<<"$options")
    help=$("$program" "$command" --help all) || fail "$command --help all ends with $?"
    for option in $("$program" help --options "$command"); do
        known="$known $option"
        grep -q -E -e "^ +(-.*, )?$option( |\$)" <<<"$help" || fail "$command --help all has no $option"
        if ! has "$own" "\\fB$option\\fR" && ! has "$planning" "\\fB$option\\fR"; then
            fail "the page has no $option of $command"
        fi
        words=$("$program" help --words "$command" "$option" 2>/dev/null) || continue
        entry=$(sed -n "/^ .*$option /,/^  *\(-., \)\{0,1\}--/p" <<<"$help" | tr -s ' \n' '  ')
        case $option in --solver|--device) continue ;; esac # a list of their own, which the help names
        for word in $words; do
            has "$entry" below && has "$help" "  $word " && continue
            has "$entry" "$word" || fail "$command --help all: $option does not tell the word $word"
        done
    done
done
for kind in $("$program" help --words gen); do
    [ -n "$("$program" help --options gen "$kind")" ] || fail "gen $kind has no options"
    known="$known $("$program" help --options gen "$kind" | tr '\n' ' ')"
done
for option in $(grep -o -E -e '--[a-z][a-z-]*' <<<"$manual" | sort -u); do
    [[ " $known " == *[[:space:]]"$option"[[:space:]]* ]] || fail "the page names $option, which no table has"
done
for code in 0 1 2 3 130; do
    grep -q -x -F -- ".B $code" <<<"$manual" || fail "the page has no exit status $code"
    has "$general" " $code " || fail "lxplan --help has no exit code $code"
done
for section in NAME SYNOPSIS DESCRIPTION COMMANDS OPTIONS 'EXIT STATUS' ENVIRONMENT FILES EXAMPLES 'SEE ALSO'; do
    grep -q -x -F -- ".SH $section" <<<"$manual" || fail "the page has no section $section"
done
grep -q '^@' "$page" && fail "the page has a mark that nothing replaced"
grep -q -E '^\.TH LXPLAN 1 "[^"]+"' "$page" || fail "the page has no date"

# every word that is told is taken: option, command before it, arguments behind it
taken() {
    local option=$1 words
    shift
    words=$("$program" help --words "$1" "$option") && [ -n "$words" ] || fail "$1 $option has no words"
    for word in $words; do
        "$program" "$@" "$option" "$word" >/dev/null 2>&1 || fail "$* $option $word ends with $?"
    done
}
taken --stage plan "$pattern"
taken --order plan "$pattern" --stage launch
taken --theme explore "$pattern" --script q
taken --verify run "$pattern" -s greedy
taken --rules loops -e 'ab,bc->ac' --sizes 8,8,8
taken --passes loops -e 'ab,bc->ac' --sizes 8,8,8
taken --objective bench "$pattern" -s greedy --time 5

# completions: what the program says, and nothing that it does not
complete_line() { # the words of a line, the last is completed
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _lxplan
    echo "${COMPREPLY[*]}"
}
complete() { :; }
compopt() { :; }
# shellcheck disable=SC1090 # the file that is tested
source "$completion"
[ "$(complete_line "$program" pl)" = plan ] || fail "completion of pl"
[ "$(complete_line "$program" plan --sol)" = --solver ] || fail "completion of plan --sol"
[ "$(complete_line "$program" plan x.json --objective t)" = time ] || fail "completion of --objective t"
[ "$(complete_line "$program" bench x --objective b)" = bytes ] || fail "completion of bench --objective b"
[ "$(complete_line "$program" bench x -s greedy,ex)" = greedy,exact ] || fail "completion of bench -s greedy,ex"
[ "$(complete_line "$program" plan x -D preset=t)" = preset=tenstorrent ] || fail "completion of -D"
[ "$(complete_line "$program" explore --theme l)" = light ] || fail "completion of --theme"
[ -z "$(complete_line "$program" plan x --seed '')" ] || fail "completion of a number"
[ "$(complete_line "$program" solvers gre)" = greedy ] || fail "completion of solvers"
kind=$("$program" help --words gen | head -1) option=$("$program" help --options gen "$kind" | tail -1)
[[ " $(complete_line "$program" gen "$kind" "${option%?}") " == *" $option "* ]] || fail "completion of gen $kind $option"

# the page as it is read
if command -v groff >/dev/null; then
    warnings=$(groff -ww -man -Tutf8 "$page" 2>&1 >/dev/null)
    [ -z "$warnings" ] || fail "groff: $warnings"
elif command -v mandoc >/dev/null; then
    mandoc -T lint -W warning "$page" || fail "mandoc has warnings"
else
    echo "manual.sh: neither groff nor mandoc here, so that the look of the page is not checked"
fi
exit $failed
