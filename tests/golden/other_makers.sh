# Placements of other makers: which file it is, is it legal, and how far from the proven least.
# MiniMalloc: its solution, two rows on the same bytes, one above the capacity, and one off chip.
sheet() { printf 'id,lower,upper,size,offset\n'; printf '%s\n' "$@"; }
sheet a,0,3,4,0 b,2,6,4,4 c,4,9,4,0 d,6,9,4,8 >"$scratch/list.12.csv"
$LXPLAN check "$scratch/list.12.csv"; echo "exit $?"
$LXPLAN check "$scratch/list.12.csv" --json | grep -o '"value": [0-9]*, "proven_least": [0-9]*'
sheet a,0,3,4,0 b,2,6,4,2 c,4,9,4,8 d,6,9,4,4 >"$scratch/over.12.csv"
$LXPLAN check "$scratch/over.12.csv"; echo "exit $?"
sheet a,0,3,4,0 b,2,6,4,4 c,4,9,4,0 d,6,9,4,9 >"$scratch/above.12.csv"
$LXPLAN check "$scratch/above.12.csv"; echo "exit $?"
sheet a,0,3,4,0 b,2,6,4, c,4,9,4,0 d,6,9,4,8 >"$scratch/off.12.csv"
$LXPLAN check "$scratch/off.12.csv"; echo "exit $?"
# With a solver, or planned, the offsets are pins as ever.
$LXPLAN check "$scratch/above.12.csv" -s exact; echo "exit $?"
$LXPLAN plan "$scratch/list.12.csv" -s exact -o "$scratch/ours.json" -q; echo "exit $?"
cp "$scratch/list.12.csv" "$scratch/list.csv"
$LXPLAN check "$scratch/list.csv" --lx 8; echo "exit $?"
# A problem and its placement: CSV, and what dsa-solver writes.
printf 'offset,id\n0,a\n4,b\n0,c\n4,d\n' >"$scratch/places.csv"
$LXPLAN check "$scratch/list.12.csv" "$scratch/places.csv"; echo "exit $?"
printf 'id,offset\na,0\nb,4\nc,0\ne,4\n' | $LXPLAN check "$scratch/list.12.csv" -; echo "exit $?"
cat >"$scratch/dsa.json" <<'END'
{"schema_version": 1, "profile": "standard_dsa", "metadata": {"corpus_problem_fingerprint_fnv1a64": "1f"},
 "problem": {"pools": [{"id": 7, "capacity": 16}], "buffers": [
  {"id": 1, "size": 8, "live_intervals": [{"lower": 0, "upper": 4}], "allowed_pools": [7]},
  {"id": 2, "size": 4, "live_intervals": [{"lower": 2, "upper": 6}], "allowed_pools": [7]}]}}
END
$LXPLAN plan "$scratch/dsa.json" -s exact -q -o "$scratch/dsa.plan.json"
$LXPLAN export "$scratch/dsa.plan.json" --format dsa -q -o "$scratch/dsa.answer.json"
$LXPLAN check "$scratch/dsa.answer.json" "$scratch/dsa.json"; echo "exit $?"
sed 's/"offset": [0-9]*/"offset": 5/' "$scratch/dsa.answer.json" | $LXPLAN check "$scratch/dsa.json" -; echo "exit $?"
# A D2M dump with offsets.
$LXPLAN gen d2m >"$scratch/d2m.json"
$LXPLAN plan "$scratch/d2m.json" --lx 640k -s exact -q -o "$scratch/d2m.plan.json"
$LXPLAN export "$scratch/d2m.plan.json" --format d2m -q -o "$scratch/d2m.answer.json"
$LXPLAN check "$scratch/d2m.answer.json" --lx 640k; echo "exit $?"
$LXPLAN check "$scratch/d2m.answer.json" --lx 639k; echo "exit $?"
# Lives around loops, as two compilers got them wrong: scratch of a later step in place of a value that the loop reads
# again (PTOAS #913), and a result of all segments over the indices that they share (tilelang-ascend #1156).
cat >"$scratch/invariant.json" <<'END'
{"lxplan": 1, "kind": "lifetimes", "name": "invariant", "maker": "modern", "pools": [{"name": "vec", "capacity": 8192}],
 "program": [1, {"loop": "k", "times": 4, "body": [3]}, 1],
 "buffers": [{"name": "scale", "size": 4096, "pool": "vec", "address": 0, "first": 0, "last": 1},
             {"name": "tile", "size": 2048, "pool": "vec", "address": 4096, "first": 1, "last": 3},
             {"name": "scratch", "size": 2048, "pool": "vec", "address": 0, "first": 2, "last": 3}]}
END
cat >"$scratch/merged.json" <<'END'
{"lxplan": 1, "kind": "lifetimes", "name": "merged", "alignment": 32, "pools": [{"name": "UB", "capacity": 196608}],
 "program": [1, {"loop": "segment", "body": [1, {"loop": "block", "times": 2, "body": [2]}, 2]}, 1],
 "buffers": [{"name": "index_ub", "size": 16384, "address": 0, "first": 0, "last": 2},
             {"name": "score_ub", "size": 32768, "address": 16384, "first": 2, "last": 4},
             {"name": "merged_ub", "size": 65536, "address": 8192, "first": 5, "last": 6}]}
END
$LXPLAN check "$scratch/invariant.json"; echo "exit $?"
$LXPLAN check "$scratch/merged.json"; echo "exit $?"
# The same loop run once, the scratch elsewhere, a value carried to the next iteration, a use that no loop carries.
sed 's/"times": 4/"times": 1/' "$scratch/invariant.json" | $LXPLAN check -; echo "exit $?"
sed 's/"address": 0, "first": 2/"address": 6144, "first": 2/' "$scratch/invariant.json" >"$scratch/right.json"
$LXPLAN check "$scratch/right.json"; echo "exit $?"
sed 's/"first": 2, "last": 3/"first": 3, "last": 1/' "$scratch/invariant.json" | $LXPLAN check -; echo "exit $?"
sed 's/"first": 0, "last": 1/"first": 4, "last": 0/' "$scratch/invariant.json" | $LXPLAN check -; echo "exit $?"
# Shown, compared with ours, and planned anew.
$LXPLAN show "$scratch/right.json" | head -3
$LXPLAN plan "$scratch/right.json" -s exact --objective height -q -o "$scratch/ours.json"
$LXPLAN diff "$scratch/right.json" "$scratch/ours.json"; echo "exit $?"
$LXPLAN check "$scratch/ours.json"; echo "exit $?"
# A plan whose product turns what it reads (both inputs have their sticks along the sum) in a type, and with columns, for
# which ours would make a copy.
cat >"$scratch/turned.json" <<'END'
{"lxplan": 2, "kind": "plan", "objective": "spill", "solver": {"name": "greedy", "seed": 0, "work_limit": 0, "options": "", "steps": 0, "message": ""},
 "graph": {"cores": 2, "tensors": [{"name": "a", "order": [0, 1], "hbm": 0}, {"name": "b", "order": [0, 1], "hbm": 1024}, {"name": "c", "order": [0, 1], "hbm": 2560}],
 "ops": [{"name": "product", "inputs": [0, 1], "output": 2, "stick_var": 2, "output_splits": [[6, 2]], "accesses": [[0, 1, 0, 1024], [1, 1, 0, 1536], [2, 0, 1, 512]]}],
 "launches": [{"op": 0, "kind": "tiles", "mode": "global", "order": "row_major", "dims": [[4, 16, 1, 4], [6, 64, 1, 6]],
  "sums": [[40, 1, 40]], "k_tile": 64, "core_grid": [1, 132], "cores": [[0, 0, 0, 0, 1, 0, 0, 0], [1, 0, 1, 1, 0, 0, 0, 0]]}],
 "transfers": []},
 "buffers": [{"name": "a", "size": 512, "start": 0, "end": 1, "tensor": 0, "view_op": 0, "view_operand": 0},
  {"name": "b", "size": 1536, "start": 0, "end": 1, "tensor": 1, "view_op": 0, "view_operand": 1},
  {"name": "c", "size": 256, "start": 0, "end": 1, "tensor": 2, "view_op": 0, "view_operand": 2}],
 "pattern": {"lxplan": 1, "kind":
 "pattern", "name": "turned", "device": {"preset": "h200", "cores": 2},
  "tensors": [{"name": "a", "shape": [4, 40], "dtype": "fp32", "role": "input"},
   {"name": "b", "shape": [6, 40], "dtype": "fp32", "role": "input"},
   {"name": "c", "shape": [4, 6], "dtype": "fp32", "role": "output"}],
  "ops": [{"name": "product", "kind": "matmul", "inputs": ["a", "b"], "output": "c", "einsum": "mk,nk->mn"}]}}
END
$LXPLAN check "$scratch/turned.json"; echo "exit $?"
$LXPLAN run "$scratch/turned.json" | sed -n 's/ in [0-9].*//; /^result/p'
sed 's/"cores": 2}/"cores": 2, "turns": 0}/' "$scratch/turned.json" | $LXPLAN check -; echo "exit $?"
