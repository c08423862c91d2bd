# Lists from and to other tools, and generated patterns.
printf 'id,lower,upper,size\n0,0,4,6\n1,2,6,5\n2,4,8,6\n' >"$scratch/tiny.12.csv"
$LXPLAN import "$scratch/tiny.12.csv"; echo "exit $?"
$LXPLAN plan "$scratch/tiny.12.csv" -s firstfit; echo "exit $?"
$LXPLAN import "$scratch/tiny.12.csv" -o "$scratch/tiny.json"; echo "exit $?"
$LXPLAN export "$scratch/tiny.json" --format minimalloc; echo "exit $?"
$LXPLAN export "$scratch/tiny.json" --format xla; echo "exit $?"
$LXPLAN gen staircase --pairs 2; echo "exit $?"
printf 'id,lower,upper,size\n0,4,4,6\n' | $LXPLAN plan -; echo "exit $?"
# Formats: what is written, what is not, and what is in a folder.
$LXPLAN export "$scratch/tiny.json" --format pattern; echo "exit $?"
$LXPLAN export "$scratch/tiny.json" --format minimaloc; echo "exit $?"
$LXPLAN plan "$scratch/tiny.json" -s firstfit -o "$scratch/tiny.plan.json" -q
$LXPLAN export "$scratch/tiny.plan.json" -q; echo "exit $?"
$LXPLAN export "$scratch/tiny.plan.json" --format xla; echo "exit $?"
$LXPLAN import patterns/targets/staircase.json; echo "exit $?"
printf 'B,M,N,K\n1,2,3,4\n' | $LXPLAN import -; echo "exit $?"
mkdir "$scratch/folder" && cp "$scratch/tiny.12.csv" "$scratch/tiny.json" "$scratch/folder" && echo words >"$scratch/folder/notes.txt"
$LXPLAN explore "$scratch/folder" --size 100x14 --script '<wait>' --dump-screen "$scratch/s"; grep tiny "$scratch/s"
$LXPLAN bench "$scratch/folder" -s greedy -o "$scratch/r.jsonl" -q; echo "exit $?"
$LXPLAN bench "$scratch/tiny.plan.json" "$scratch/folder/notes.txt" -s greedy; echo "exit $?"
# Plans for others: of plans and of patterns; what has none of it, and teams.
$LXPLAN export "$scratch/tiny.plan.json" --format allocinfo; echo "exit $?"
$LXPLAN export "$scratch/tiny.12.csv" --format xla-csv -s firstfit; echo "exit $?"
$LXPLAN export "$scratch/tiny.plan.json" --format handover; echo "exit $?"
$LXPLAN export "$scratch/tiny.plan.json" --format model-explorer-cores; echo "exit $?"
$LXPLAN export "$scratch/tiny.plan.json" --format d2m; echo "exit $?"
$LXPLAN export "$scratch/tiny.plan.json" --format allocinfo --lx 4k; echo "exit $?"
$LXPLAN export patterns/targets/staircase.json --format model-explorer-hbm; echo "exit $?"
$LXPLAN export patterns/lists/two_pools.json --format allocinfo; echo "exit $?"
$LXPLAN plan patterns/team/uneven_8.json --team 2 -o "$scratch/team.plan.json" -q
$LXPLAN export "$scratch/team.plan.json" --format perfetto | grep -c process_name
$LXPLAN export "$scratch/team.plan.json" --format perfetto --lx 4k; echo "exit $?"
$LXPLAN export "$scratch/team.plan.json" --format handover; echo "exit $?"
# Numbers of XLA's own files are those of the answer, which is one to the very file.
printf 'buffer_id,buffer_name,alt_mem_benefit,size,definition_time,use_times,use_names,is_scoped\n41,a,9,64,0,5,x,false\n7,b,9,64,1,5,y,false\n' >"$scratch/xla.csv"
$LXPLAN plan "$scratch/xla.csv" -q -o "$scratch/xla.plan.json"; echo "exit $?"
for format in xla xla-csv allocinfo; do $LXPLAN export "$scratch/xla.plan.json" --format $format -q -o "$scratch/$format.csv"; cat "$scratch/$format.csv"; done
$LXPLAN check "$scratch/xla.csv" "$scratch/allocinfo.csv"; echo "exit $?"
