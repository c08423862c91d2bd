# A race of the solvers, with the times blanked: they differ from run to run.
see() { # SIZE FILE KEYS
    echo "== $*"
    $LXPLAN explore "$2" --objective bytes --size "$1" --script "<wait>$3" --dump-screen "$scratch/s" &&
        sed -E -e 's/ +[0-9.]+ [mun]?s  /      (time)  /' -e 's/^( +)│[a-z-][a-z -]{20,}$/\1│(curves over time)/' \
            -e '/^ +└[─┬]+$/,+1s/.*/(axis of time)/' "$scratch/s"
}
solvers='5r<wait>'
see 80x24 patterns/targets/moe_mlp.json ":lx 850k<Enter>:solver greedy<Enter><wait>o${solvers}jjjjj"
see 120x40 patterns/targets/moe_mlp.json ":lx 850k<Enter>:solver greedy<Enter><wait>o${solvers}jjjjj"
see 40x12 patterns/targets/moe_mlp.json "$solvers"
see 120x40 patterns/graphs/gq_attention.json "${solvers}j<Space>jjjj"
see 80x24 patterns/graphs/gq_attention.json 5
