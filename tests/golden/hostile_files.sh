# Files that may not grow, disks that are full, links that point to nothing, files that are to stay as they are.
cd "$scratch" || exit 3
pattern=$OLDPWD/patterns/graphs/rms_norm.json
$LXPLAN gen random --buffers 2000 -o big.json
echo '== a limit of sizes (SIGXFSZ)'
(ulimit -S -f 8; $LXPLAN plan big.json -s greedy -o plan.json -q; echo "exit $?")
(ulimit -S -f 1; $LXPLAN bench "$pattern" -s greedy,firstfit --repeat 20 -o rows.jsonl -q; echo "exit $?")
ls ./*.tmp 2>/dev/null
echo '== a full disk'
$LXPLAN plan "$pattern" -o /dev/full -q; echo "exit $?"
$LXPLAN plan "$pattern" >/dev/full; echo "exit $?"
echo '== a reader that goes away (SIGPIPE)'
{ $LXPLAN gen random --buffers 20000; echo "exit $?" >&2; } | head -c 10 >/dev/null
echo '== a link to nothing stays a link'
mkdir there
ln -s there/plan.json link.json
$LXPLAN plan "$pattern" -o link.json -q; echo "exit $?"
readlink link.json
ls there
echo '== a file that is not to be written'
cp there/plan.json kept.json
chmod 400 kept.json
$LXPLAN plan "$pattern" -s greedy -o kept.json -q; echo "exit $?"
cmp kept.json there/plan.json && echo unchanged
echo '== files that are not what they say'
sed 's/"kind": "plan"/"kind": "plan2"/' kept.json >other.json
$LXPLAN check other.json; echo "exit $?"
echo '{"lxplan": 1e300, "kind": "pattern"}' >huge.json
$LXPLAN check huge.json; echo "exit $?"
echo '{"lxplan": 1, "kind": "pattern", "name": "n", "capacity": 9, "buffers": [{"name": "a", "size": 1, "uses": [2, 1]}]}' >uses.json
$LXPLAN export uses.json; echo "exit $?"
echo '== calls that multiply, in little memory'
{
    echo 'HloModule bomb'
    echo 'f0 { p = f32[64] parameter(0) ROOT r = f32[64] add(p, p) }'
    for i in $(seq 22); do
        echo "f$i { p = f32[64] parameter(0) a = f32[64] call(p), to_apply=f$((i - 1)) ROOT r = f32[64] call(a), to_apply=f$((i - 1)) }"
    done
    echo 'ENTRY main { p = f32[64] parameter(0) ROOT r = f32[64] call(p), to_apply=f22 }'
} >bomb.hlo
limit=300000
(ulimit -v $limit; $LXPLAN --version; exit $?) >/dev/null 2>&1 || limit=unlimited # sanitizers map terabytes
(ulimit -v $limit; $LXPLAN plan bomb.hlo; echo "exit $?")
