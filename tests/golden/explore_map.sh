# The map at four sizes, to scale and by edges, zoomed, in ASCII; evictions and copies have arrows.
see() { # SIZE FILE KEYS
    echo "== $*"
    $LXPLAN explore "$2" --objective bytes --size "$1" --script "<wait>$3" --dump-screen "$scratch/s" && cat "$scratch/s"
}
see 80x24 patterns/graphs/gq_attention.json
see 120x40 patterns/graphs/gq_attention.json
see 200x60 patterns/graphs/gq_attention.json
see 40x12 patterns/graphs/gq_attention.json
see 80x24 patterns/targets/gqattention.json v
see 120x40 patterns/targets/moe_mlp.json ':lx 850k<Enter><wait>o'
see 80x24 patterns/targets/moe_mlp.json ':goto up_1<Enter>Z'
see 80x24 patterns/targets/staircase.json A
see 80x24 patterns/targets/eviction_reallocation.json ':set evict on<Enter><wait>:lx 900000<Enter><wait><Esc>'
