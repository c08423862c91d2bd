# Every plan seen, bytes against time, at three sizes and in ASCII; one that is taken; a list, which has no times.
see() { # SIZE FILE KEYS
    echo "== $*"
    $LXPLAN explore "$2" --tile none --objective bytes --size "$1" --script "<wait>$3" --dump-screen "$scratch/s" && cat "$scratch/s"
}
gq=patterns/graphs/gq_attention.json
for size in 80x24 120x40 200x60; do
    see $size $gq ':lx 60k<Enter><wait>a<wait>>'
done
(LC_ALL=C && export LC_ALL && see 80x24 $gq ':lx 60k<Enter><wait>a<wait>')
see 80x24 $gq ':lx 60k<Enter><wait>a<wait><Enter><wait>'
see 40x12 $gq 'a<wait>'
see 80x24 patterns/lists/store_once.json a
