#!/bin/sh
# terminal.sh PROGRAM CASE: the explorer in a real terminal, through tmux. Every step waits for words on the screen,
# never for a time. Exit 77: no tmux here.
set -u
LXPLAN=$1 case=$2
command -v tmux >/dev/null || exit 77
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
export XDG_CONFIG_HOME=$scratch/config # nobody's own wishes
socket=lxplan-$case-$$ opened=0 surroundings=
export LC_ALL=C.UTF-8
unset NO_COLOR TMUX
mux() { tmux -L "$socket" -f /dev/null "$@"; }
trap 'mux kill-server 2>/dev/null; rm -rf "$scratch"' EXIT
screen() { mux capture-pane -p -t t 2>/dev/null; }

# Until the screen has (or has not) the words: 30 s are for slow machines, a quick one never waits.
until_screen() { # WORDS MEANT
    n=0
    while [ $n -lt 600 ]; do
        if screen | grep -qF -e "$1"; then found=yes; else found=no; fi
        [ "$found" = "$2" ] && return 0
        n=$((n + 1))
        sleep 0.05
    done
    echo "terminal.sh: waited for \"$1\" ($2); the screen has:"
    screen
    exit 1
}
wait_for() { until_screen "$1" yes; }
wait_gone() { until_screen "$1" no; }
keys() { mux send-keys -t t "$@"; }
# Opens a terminal with a shell that tells how the program ended and whether the terminal is as it was.
start() { # TERM ARGUMENTS
    mux kill-server 2>/dev/null
    opened=$((opened + 1))
    socket=lxplan-$case-$$-$opened # a server that is about to end would take the new session with it
    term=$1
    shift
    cat >"$scratch/run" <<END
trap : INT
cd $root
stty -g >$scratch/before
$surroundings TERM=$term $LXPLAN $*
echo "ended with \$?"
stty -g >$scratch/after
cmp -s $scratch/before $scratch/after && echo "terminal as before" || echo "TERMINAL CHANGED"
exec cat
END
    mux new-session -d -x 80 -y 24 -s t "sh $scratch/run"
}
pid_of_program() { pgrep -P "$(mux display-message -p -t t '#{pane_pid}')" -f explore; }

case $case in
start) # every terminal that people have: it starts, shows the map, and leaves the terminal as it was
    for term in xterm-256color tmux-256color screen xterm linux vt100; do
        start "$term" explore patterns/graphs/gq_attention.json --objective bytes
        wait_for 'off chip'
        wait_for 'HBM 2'
        keys Q
        wait_for 'ended with 0'
        wait_for 'terminal as before'
    done
    ;;
sweep)
    start tmux-256color explore patterns/graphs/moe_mlp.json --tile none
    wait_for 'HBM 12'
    keys 0
    wait_for '[0 Sweep]'
    wait_for 'KiB nothing spills (auto)'
    keys g ]
    wait_for 'a knee'
    keys Enter
    wait_for 'the present plan'
    keys u
    wait_for 'plans with it'
    keys Q
    wait_gone 'plans with it'
    ;;
move)
    start tmux-256color explore patterns/graphs/gq_attention.json
    wait_for 'auto: optimal' # the plan itself, not an interim one: changes are told against it
    keys 2
    wait_for '[2 Graph]'
    keys g j j
    wait_for 'scaled = mul'
    keys Tab
    wait_for 'cores, and the part each holds'
    keys Right Right
    wait_for 'core 2 holds'
    keys '?'
    wait_for 'every key and command'
    keys q
    wait_gone 'every key and command'
    keys ':' 'solver ex' Tab Enter
    wait_for 'no byte changed'
    keys j # the next key takes the before and after away
    wait_for 'exact: optimal'
    keys u
    wait_for 'no byte changed'
    keys k
    wait_for 'auto: optimal'
    keys q q
    wait_for 'ended with 0'
    ;;
resize)
    start tmux-256color explore patterns/graphs/gq_attention.json
    wait_for 'HBM 2'
    mux resize-window -t t -x 120 -y 40
    wait_for '/in place'
    mux resize-window -t t -x 40 -y 12
    wait_gone '/in place'
    wait_for '[4 Map]'
    mux resize-window -t t -x 3 -y 2
    mux resize-window -t t -x 100 -y 30
    wait_for ' 1 Patterns  2 Graph'
    keys Q
    wait_for 'terminal as before'
    ;;
colours) # as many as the terminal has; none where none are wanted; ASCII where the locale has nothing else
    start tmux-256color explore patterns/graphs/gq_attention.json
    wait_for 'HBM 2'
    mux capture-pane -pe -t t | grep -q '48;5;' || { echo "no colours"; exit 1; }
    surroundings='NO_COLOR=1'
    start tmux-256color explore patterns/graphs/gq_attention.json
    wait_for 'HBM 2'
    mux capture-pane -pe -t t | grep -q '[34]8;5;' && { echo "colours in spite of NO_COLOR"; exit 1; }
    surroundings='LC_ALL=C'
    start tmux-256color explore patterns/graphs/gq_attention.json
    wait_for 'HBM 2'
    screen | LC_ALL=C grep -q '[^ -~]' && { echo "more than ASCII in the C locale"; exit 1; }
    keys Q
    wait_for 'ended with 0'
    ;;
mouse)
    start xterm-256color explore patterns/graphs/gq_attention.json
    wait_for 'auto: optimal' # the plan itself: interim ones have other ops
    keys -l "$(printf '\033[<0;16;1M\033[<0;16;1m')" # a click on the tab of the graph, as terminals report it
    wait_for '[2 Graph]'
    keys -l "$(printf '\033[<0;20;6M\033[<0;20;6m')" # on the fourth op
    wait_for 'masked = add'
    keys -l "$(printf '\033[<65;20;6M')" # the wheel
    wait_for 'max_lse = '
    keys Q
    wait_for 'ended with 0'
    ;;
signals) # told to end, it gives the terminal back; stopped and woken, it draws again
    for signal in TERM HUP INT; do
        start tmux-256color explore patterns/graphs/gq_attention.json
        wait_for 'HBM 2'
        kill -s $signal "$(pid_of_program)"
        wait_for 'ended with'
        wait_for 'terminal as before'
    done
    start tmux-256color explore patterns/graphs/gq_attention.json
    wait_for 'HBM 2'
    kill -s SEGV "$(pid_of_program)" # a crash, too
    wait_for 'ended with'
    wait_for 'terminal as before'
    ;;
interrupt) # Ctrl-C leaves with 130, as from any program; a file alone opens the explorer
    start tmux-256color patterns/graphs/gq_attention.json
    wait_for 'HBM 2'
    keys C-c
    wait_for 'ended with 130'
    wait_for 'terminal as before'
    ;;
footer) # what the last line offers can be clicked
    start xterm-256color patterns/graphs/gq_attention.json
    wait_for 'HBM 2'
    keys 2
    wait_for '[2 Graph]'
    column=$(screen | tail -n 1 | awk '{print index($0, "f filter")}')
    keys -l "$(printf '\033[<0;%d;24M\033[<0;%d;24m' "$column" "$column")"
    wait_gone 'help'
    keys -l 'max'
    keys Enter
    wait_for 'filter max  1/1'
    keys Q
    wait_for 'ended with 0'
    ;;
editor) # e gives the terminal to $VISUAL at the line of what is selected, and reads the file again
    cp "$root/patterns/graphs/gq_attention.json" "$scratch/own.json"
    cat >"$scratch/ed" <<END
#!/bin/sh
stty -a | grep -q -e ' echo ' && state=usual || state=raw
sed -n "\${1#+}p" "\$2" >$scratch/line
sed -i 's/"name": "masked", "kind": "add"/"name": "veiled", "kind": "add"/' "\$2"
echo "editing at \$1, terminal \$state"
read ignored
END
    chmod +x "$scratch/ed"
    surroundings="VISUAL=$scratch/ed EDITOR=false"
    start tmux-256color "$scratch/own.json"
    wait_for 'HBM 2'
    keys 2 g j j j
    wait_for 'masked = add'
    keys e
    wait_for 'editing at +'
    wait_for 'terminal usual'
    grep -q '"name": "masked", "kind": "add"' "$scratch/line" || { echo "at another line:"; cat "$scratch/line"; exit 1; }
    keys Enter
    wait_for 'veiled = add'
    keys C-c
    wait_for 'ended with 130'
    wait_for 'terminal as before'
    surroundings="VISUAL=false"
    start tmux-256color "$scratch/own.json"
    wait_for 'HBM 2'
    keys e
    wait_for 'false ended with 1'
    keys Q
    wait_for 'ended with 0'
    ;;
watch) # a file that changes is read again by itself; while it is broken, the error and its line are shown
    cp "$root/patterns/graphs/gq_attention.json" "$scratch/own.json"
    start tmux-256color "$scratch/own.json"
    wait_for 'HBM 2'
    keys 2
    wait_for 'masked'
    sed 's/"name": "masked", "kind": "add"/"name": "veiled", "kind": "add"/' "$scratch/own.json" >"$scratch/new"
    cp "$scratch/new" "$scratch/own.json"
    wait_for 'has changed: reloaded'
    wait_for 'veiled'
    sed 's/"kind": "add"/"kind": "adn"/' "$scratch/new" >"$scratch/own.json"
    wait_for 'unknown kind "adn"'
    wait_for '^'
    mv "$scratch/new" "$scratch/own.json"
    wait_for 'veiled'
    keys Q
    wait_for 'ended with 0'
    ;;
verdict) # reports have colours on a terminal, and none where none are wanted
    start xterm-256color report tests/data/results/before.jsonl
    wait_for 'ended with 0'
    mux capture-pane -pe -S - -t t | grep -q "$(printf '\033')\[32mauto and exact best on 5 of 5" || { echo "no colours"; exit 1; }
    surroundings='NO_COLOR=1'
    start xterm-256color report tests/data/results/before.jsonl
    wait_for 'ended with 0'
    mux capture-pane -pe -S - -t t | grep -q "$(printf '\033')\[3[1-7]m" && { echo "colours in spite of NO_COLOR"; exit 1; }
    mux capture-pane -p -S - -t t | grep -q '^auto and exact best on 5 of 5' || { echo "no verdict"; exit 1; }
    ;;
suspend) # also while it draws, when ncurses itself would be deaf, and from within the editor
    cat >"$scratch/ed" <<END
#!/bin/sh
echo 'in the editor'
read ignored
END
    chmod +x "$scratch/ed"
    mux new-session -d -x 80 -y 24 -s t "cd $root && VISUAL=$scratch/ed exec bash --norc -i"
    keys "PS1='ready> '" Enter
    wait_for 'ready>'
    keys "$LXPLAN explore patterns/graphs/gq_attention.json" Enter
    wait_for 'HBM 2'
    for view in 1 2 3 4 7 5; do
        keys $view
        wait_for "[$view "
        keys C-l
        keys C-z
        wait_for 'Stopped'
        keys 'clear; fg' Enter # what it said before must not be taken for what it says next
        wait_gone 'Stopped'
        wait_for "[$view "
    done
    keys 4 e
    wait_for 'in the editor'
    keys C-z
    wait_for 'Stopped'
    keys 'clear; fg' Enter
    wait_gone 'Stopped'
    keys Enter
    wait_for 'HBM 2'
    keys Q
    wait_gone 'HBM 2'
    ;;
dumb) # a terminal that cannot be drawn on: an error that says what to do, not a mess
    start dumb explore patterns/graphs/gq_attention.json
    wait_for 'cannot move its cursor'
    wait_for 'ended with 2'
    ;;
bare) # without a command: the explorer, with a welcome
    start tmux-256color ""
    wait_for 'Welcome to lxplan'
    keys Enter
    wait_gone 'Welcome to lxplan'
    keys q
    wait_for 'ended with 0'
    ;;
*)
    echo "terminal.sh: no case $case"
    exit 2
    ;;
esac
