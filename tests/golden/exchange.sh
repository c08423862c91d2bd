# Lists from and to other tools, and generated patterns.
printf 'id,lower,upper,size\n0,0,4,6\n1,2,6,5\n2,4,8,6\n' >"$scratch/tiny.12.csv"
$LXPLAN import "$scratch/tiny.12.csv"; echo "exit $?"
$LXPLAN plan "$scratch/tiny.12.csv" -s firstfit; echo "exit $?"
$LXPLAN import "$scratch/tiny.12.csv" -o "$scratch/tiny.json"; echo "exit $?"
$LXPLAN export "$scratch/tiny.json" --format minimalloc; echo "exit $?"
$LXPLAN export "$scratch/tiny.json" --format xla; echo "exit $?"
$LXPLAN gen staircase --pairs 2; echo "exit $?"
printf 'id,lower,upper,size\n0,4,4,6\n' | $LXPLAN plan -; echo "exit $?"
