# The configuration of the explorer: what is set there, what goes before it, and what is wrong with it.
mkdir -p "$XDG_CONFIG_HOME/lxplan"
config=$XDG_CONFIG_HOME/lxplan/config
see() { # ARGUMENTS: the last two lines of the screen
    $LXPLAN explore patterns/graphs/gq_attention.json --script "<wait>$keys" --dump-screen "$scratch/s" --size 100x20 "$@"
    echo "exit $?"
    [ -f "$scratch/s" ] && tail -n 2 "$scratch/s"
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
keys=
see
see -s exact --lx 1m
see --no-config
keys='$'
see
for wrong in 'theme pink' 'theme' 'bind' 'bind <F1> graph' 'bind <F99> graph' 'bind $ grph' 'set solver nobody' 'set slover exact' \
    'set cores' 'set cores few' 'color dark' 'ascii yes' '  theme light dark'; do
    printf '# first\n%s\n' "$wrong" >"$config"
    keys=
    see
done
rm "$config"
see
