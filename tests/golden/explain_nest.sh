# What a nest keeps on chip, by number, by an op of it, all of them; a buffer in a nest; and a name that is neither.
$LXPLAN plan patterns/graphs/gq_attention.json --lx 60k --online none --nests 'scores-y:g/8' --explain nest1; echo "exit $?"
$LXPLAN plan patterns/graphs/gq_attention.json --lx 60k --online none --nests 'scores-y:g/8' --explain scores; echo "exit $?"
$LXPLAN plan patterns/graphs/mlp.json --nests 'up-down:f/4' --explain nests; echo "exit $?"
$LXPLAN plan patterns/graphs/gq_attention.json --tile none --explain nests; echo "exit $?"
$LXPLAN plan patterns/graphs/gq_attention.json --tile none --explain nest1; echo "exit $?"
