# lxplan sweep: chart, words, table, CSV, JSON, SVG; ranges that are wrong; the same whatever -j.
moe=patterns/graphs/moe_mlp.json
"$LXPLAN" sweep $moe --tile none --lx 16k..2m -s auto,bestfit,greedy --steps 24
"$LXPLAN" sweep $moe --tile none --lx 16k..2m -s auto,bestfit,greedy --steps 24 --ascii --width 120 --height 22 | head -26
LC_ALL=C "$LXPLAN" sweep patterns/graphs/rms_norm.json --tile none --lx 1k..64k --steps 12 -s bestfit
echo "cores:"
"$LXPLAN" sweep patterns/graphs/gq_attention.json --tile none --lx 16k..1m --cores 4..32 -s auto --steps 8
"$LXPLAN" sweep patterns/graphs/gq_attention.json --tile none --lx 64k,1m --cores 8,12 --value time --format csv
echo "a list:"
printf 'id,lower,upper,size\na,0,9,400\nb,2,5,300\nc,4,8,200\nd,1,3,500\n' >"$scratch/list.csv"
"$LXPLAN" sweep "$scratch/list.csv" --lx 300..2000 --steps 6 -s auto,greedy --objective traffic
"$LXPLAN" sweep "$scratch/list.csv" --lx 300..2000 --steps 6 -s auto --objective fit
"$LXPLAN" sweep "$scratch/list.csv" --lx 300..2000 --steps 6 -s auto --objective fit --format csv
"$LXPLAN" sweep patterns/lists/store_once.json; echo $?
"$LXPLAN" sweep patterns/targets/gqattention.json --lx 1m,1500k,3m -s auto --json
"$LXPLAN" sweep $moe --tile none --lx 64k..256k --steps 3 -s bestfit --svg -o "$scratch/s.svg"; echo "svg $?"
grep -o '<text class="\(words\|title\)"[^<]*' "$scratch/s.svg" | sed 's/.*>//'
for j in 1 2 5; do
    "$LXPLAN" sweep $moe --tile none --steps 12 -j $j --cores 8,32 --format csv | cksum
done
echo "teams:"
mlp=patterns/graphs/mlp_small.json
"$LXPLAN" sweep $mlp --team 1..6 --team-by time
"$LXPLAN" sweep $mlp --team 2,2x2 --format csv
"$LXPLAN" sweep $mlp --team 2 --json
for team in 4..1 0 2x2..8 3x 1,x; do "$LXPLAN" sweep $mlp --team $team; echo $?; done
"$LXPLAN" sweep $mlp --team 2 --lx 64k; echo $?
"$LXPLAN" sweep $mlp --team 2 --format svg; echo $?
"$LXPLAN" sweep $mlp --team 2 --team-by luck; echo $?
echo "wrong:"
for range in 2m..16k 16k.. ..2m 16k..x 0..4 100k,64k 5; do
    "$LXPLAN" sweep $moe --tile none --lx $range -s greedy --format csv >"$scratch/out"; echo "$range: $?"
done
"$LXPLAN" sweep $moe --tile none --cores 0..4; echo $?
"$LXPLAN" sweep $moe --tile none --cores 64 --lx 64k; echo $?
"$LXPLAN" sweep "$scratch/list.csv" --cores 4..8; echo $?
"$LXPLAN" sweep "$scratch/list.csv"; echo $?
"$LXPLAN" sweep $moe --tile none --steps 0; echo $?
"$LXPLAN" sweep $moe --tile none --svg --json; echo $?
"$LXPLAN" sweep $moe --tile none -s gredy --json; echo $?
"$LXPLAN" sweep no_such_file.json; echo $?
echo "quiet:"
"$LXPLAN" sweep $moe --tile none --lx 64k,128k -s greedy -q; echo $?
"$LXPLAN" sweep $moe --tile none --lx 64k -s greedy -q --format csv | head -1
