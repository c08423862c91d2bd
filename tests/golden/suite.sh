# The suite: listed, verified, bettered by a benchmark; and files that are not what they say.
mkdir -p "$scratch/patterns/suite/fit" "$scratch/patterns/suite/height" || exit 3
cp patterns/suite/fit/tight_10.* patterns/suite/fit/over_50.* patterns/suite/fit/easy_12.* "$scratch/patterns/suite/fit"
cp patterns/suite/height/cut_15.instance "$scratch/patterns/suite/height"
certified=$PWD/patterns/suite/linked/gq_attention.instance
cd "$scratch" || exit 3
fit=patterns/suite/fit height=patterns/suite/height/cut_15.instance
$LXPLAN suite; echo "exit $?"
$LXPLAN suite verify --json | head -4
$LXPLAN suite verify nothing; echo "exit $?"
echo "--- an instance is a pattern for every command"
$LXPLAN plan $fit/tight_10.instance -s exact | head -1
$LXPLAN check $fit/easy_12.instance -s exact | head -1
echo "--- bettered"
sed -i 's/"best": 65536, "bound": 65536, "status": "proved"/"best": 70000, "bound": 65536, "status": "open"/' $height
$LXPLAN suite verify cut_15 | sed -n 4p
$LXPLAN bench --suite cut_15 easy_12 -s exact,greedy -o r.jsonl 2>/dev/null | tail -2
$LXPLAN suite update r.jsonl; echo "exit $?"
tail -2 $height; head -3 patterns/suite/height/cut_15.csv
$LXPLAN suite verify cut_15 | sed -n 4p
$LXPLAN suite update r.jsonl; echo "exit $?"
$LXPLAN report r.jsonl --by class -f csv | cut -d, -f1,2,4-7
echo "--- a certificate proves one; nothing proves a claim above the least"
$LXPLAN suite verify "$certified" | sed -n 4p | tr -s ' '
cp patterns/suite/height/cut_15.csv kept.csv; cp $height kept.instance
awk -F, 'NR > 1 { $2 += 1024 } 1' OFS=, kept.csv >patterns/suite/height/cut_15.csv
sed -i 's/"best": 65536, "bound": 65536/"best": 66560, "bound": 66560/' $height
$LXPLAN suite verify cut_15 | sed -n 4p | tr -s ' '
sed 's/"proved"/"open"/' kept.instance >$height
$LXPLAN bench --suite cut_15 -s exact -q | grep -c 'suite update'
sed 's/"best": 65536, "bound": 65536, "status": "proved"/"best": 200000, "bound": 1000, "status": "open"/' kept.instance >$height
$LXPLAN bench --suite cut_15 -s greedy -o claim.jsonl -q >/dev/null
sed -i '$s/"outcome": "feasible"/"outcome": "optimal"/; $s/"bound": 65536/"bound": 158592/' claim.jsonl
$LXPLAN suite update claim.jsonl; grep -o '"best".*"by": "[a-z]*"' $height
cp kept.csv patterns/suite/height/cut_15.csv; cp kept.instance $height
echo "--- a solver that does not take a problem has not failed"
$LXPLAN bench --suite "$certified" -s cmd:true,greedy -o untaken.jsonl -q >/dev/null; echo "exit $?"
$LXPLAN report untaken.jsonl | sed -n '/not tried/,$p' | tr -s ' '
echo "--- not what they say"
sed -i '3s/,.*/,0/' patterns/suite/height/cut_15.csv; $LXPLAN suite verify cut_15 | sed -n 4p | tr -s ' '
spoil() { # FROM TO: of the tight one
    sed "s/\"tight_10\"/\"spoilt\"/; s/$1/$2/" $fit/tight_10.instance >$fit/spoilt.instance
    $LXPLAN suite verify spoilt 2>&1 | grep -a 'spoilt' | tr -s ' '; rm $fit/spoilt.instance
}
spoil '"--seed","7011"' '"--seed","7012"'
spoil '"gen","cut"' '"run","cut"'
spoil '"--objective"' '"-o","stolen","--objective"'
spoil '"gen".*"fit"' '"plan","INSTANCE","--stage","graph"'
spoil '"gen".*"fit"' '"plan","INSTANCE","-s","cmd:touch stolen"'
spoil '"gen".*"fit"' '"plan","INSTANCE","--certificate","stolen"'
spoil '"fit",' '"fits",'
spoil '"best": 0' '"best": -1'
spoil '"bound": 0' '"bound": 1'
ls stolen 2>/dev/null; echo "exit $?"
$LXPLAN bench --suite fit --time 3 -s exact; echo "exit $?"
