# "Why, and what helps" at three sizes, of a buffer and of the plan as a whole, in ASCII; and a row that is applied.
see() { # SIZE FILE KEYS
    echo "== $*"
    $LXPLAN explore "$2" --tile none --objective bytes --size "$1" --script "<wait>$3" --dump-screen "$scratch/s" && cat "$scratch/s"
}
see 80x24 patterns/graphs/gq_attention.json ':lx 60k<Enter><wait>oi<wait>'
see 120x40 patterns/graphs/gq_attention.json ':lx 60k<Enter><wait>oi<wait>'
see 200x60 patterns/graphs/gq_attention.json ':lx 60k<Enter><wait>oi<wait><Space><wait>'
see 80x24 patterns/targets/simple_fragmentation.json ':solver greedy<Enter><wait>oi<wait>A'
see 120x40 patterns/graphs/gq_attention.json ':lx 60k<Enter><wait>:goto p<Enter>i<wait>>'
see 80x24 patterns/graphs/gq_attention.json ':lx 60k<Enter><wait>:goto q<Enter>i<wait>'
LC_ALL=C see 80x24 patterns/lists/store_once.json 'i<wait>'
see 80x24 patterns/graphs/gq_attention.json ':lx 60k<Enter><wait>oi<wait><Enter><wait>'
