# The configuration of the explorer: what is set there, what goes before it, and what is wrong with it.
mkdir -p "$XDG_CONFIG_HOME/lxplan"
config=$XDG_CONFIG_HOME/lxplan/config
see() { # ARGUMENTS: the beginning of the status, for the glyphs, and the last line
    $LXPLAN explore patterns/graphs/gq_attention.json --objective bytes --script "<wait>$keys" --dump-screen "$scratch/s" --size 100x20 "$@"
    echo "exit $?"
    [ -f "$scratch/s" ] && tail -n 2 "$scratch/s" | head -n 1 | sed 's/HBM.*//' && tail -n 1 "$scratch/s" | sed 's/   *[0-9]*\/[0-9]*$//'
    rm -f "$scratch/s"
}
cat >"$config" <<END
# what I like
theme light
ascii

bind $ graph   # besides 2
set solver  greedy
set lx 50%
END
keys=y
see
see -s exact --lx 1m
see --no-config
$LXPLAN patterns/graphs/gq_attention.json --objective bytes --script '<wait>$' --dump-screen "$scratch/s"; head -n 1 "$scratch/s" | grep -o '\[.*\]'
rm "$scratch/s"
for wrong in 'theme pink' 'theme' 'bind' 'bind <F1> graph' 'bind <F99> graph' 'bind $ grph' 'set solver nobody' 'set slover exact' \
    'set cores' 'set cores few' 'color dark' 'ascii yes' '  theme light dark'; do
    printf '# first\n%s\n' "$wrong" >"$config"
    keys=
    see
done
rm "$config"
keys=y
see
