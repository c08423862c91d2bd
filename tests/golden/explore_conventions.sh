# The marks of the last line, proposals, the way back, what is wrong in a file: at three sizes, and without Unicode.
see() { # SIZE KEYS: the last line of the screen
    $LXPLAN patterns/showcase --objective bytes --script "<wait>$2" --dump-screen "$scratch/s" --size "$1" $more
    echo "--- $1 $2 $more"
    tail -n 1 "$scratch/s"
}
mkdir "$scratch/here"
for size in 80x24 120x40 200x60; do
    for more in '' '--ascii'; do
        see $size 'j'
        see $size 'fmoe<Enter>'
        see $size '/tight<Enter>n'
        see $size '/tight<Enter>nn'
        see $size 'j<Enter><wait>W'
        see $size 'j<Enter><wait>2g4<C-o>'
    done
done
more=
# Words for what is wrong, with the line and a mark, and where to mend it.
sed 's/"dtype"/"dytpe"/' patterns/graphs/rms_norm.json >"$scratch/here/wrong.json"
for size in 80x24 120x40 200x60; do
    (cd "$scratch/here" && $LXPLAN wrong.json --script '<wait>' --dump-screen "$scratch/s" --size $size)
    echo "--- $size"
    sed -n '/wrong.json:/,/another one/p' "$scratch/s" | sed 's/^ *//'
done
LC_ALL=C $LXPLAN patterns/showcase/moe_tight.json --script '<wait>:welcome<Enter>' --dump-screen "$scratch/s"
sed -n 3,20p "$scratch/s"
