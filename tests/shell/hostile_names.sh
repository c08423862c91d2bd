#!/bin/sh
# hostile_names.sh PROGRAM SOURCES: files whose names have escape sequences, C1 controls and marks of direction in them, through every
# command and view. What people read, files of other tools aside, has none of these bytes in it; what programs read has them escaped.
# Exit 1: some command lets one through.
set -u
LXPLAN=$1 sources=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XDG_CONFIG_HOME=$scratch/config LC_ALL=C.UTF-8 NO_COLOR=1
cd "$scratch" || exit 3
evil='\u001b]0;owned\u0007\u001b[2J\u009b31m\u202e\u2066<b>"'
raw=$(printf 'e\033]0;owned\007\302\23331m\342\200\256')
evil=$(printf '%s' "$evil" | sed 's/"/\\"/g')
cat >graph.json <<END
{"lxplan": 1, "kind": "pattern", "name": "p$evil", "tensors": [
  {"name": "x$evil", "shape": [256, 512], "dtype": "fp16", "role": "input"},
  {"name": "h$evil", "shape": [256, 512], "dtype": "fp16"},
  {"name": "y$evil", "shape": [256, 512], "dtype": "fp16", "role": "output"}],
 "ops": [
  {"name": "a$evil", "kind": "exp", "einsum": "mn->mn", "inputs": ["x$evil"], "output": "h$evil"},
  {"name": "b$evil", "kind": "relu", "einsum": "mn->mn", "inputs": ["h$evil"], "output": "y$evil"}]}
END
cat >list.json <<END
{"lxplan": 1, "kind": "pattern", "name": "l$evil", "capacity": 20, "buffers": [
 {"name": "b$evil", "size": 8, "start": 0, "end": 3}, {"name": "c$evil", "size": 8, "start": 1, "end": 4},
 {"name": "d$evil", "size": 8, "start": 1, "end": 4}]}
END
printf 'id,lower,upper,size\n%s,0,9,400\nb,2,5,300\n' "$raw" >list.csv
printf 'HloModule m\nENTRY main {\n  %%%s = f32[8,64] parameter(0)\n  ROOT %%r = f32[8,64] negate(%%%s)\n}\n' "$raw" "$raw" >m.hlo
printf 'func.func @f(%%x: tensor<8x64xf32>) -> tensor<8x64xf32> {\n  %%0 = "ttir.relu"(%%x) : (tensor<8x64xf32>) -> tensor<8x64xf32> loc("%s")\n  return %%0 : tensor<8x64xf32>\n}\n' "$raw" >m.mlir
# A model of ONNX, field by field: names of nodes, values, dimensions and of the graph with all that and with bytes that are no UTF-8.
broken=$raw$(printf '\377\300\257\355\240\200')
varint() { if [ "$1" -lt 128 ]; then printf "\\$(printf %o "$1")"; else printf "\\$(printf %o $(($1 % 128 + 128)))\\$(printf %o $(($1 / 128)))"; fi; }
part() { # FIELD FILE
    varint $(($1 * 8 + 2))
    varint "$(wc -c <"$2")"
    cat "$2"
}
word() { # FIELD TEXT
    printf '%s' "$2" >part.word
    part "$1" part.word
}
number() { varint $(($1 * 8)) && varint "$2"; }
end_of() { # FIELD NAME, and what its second dimension is
    { number 1 8; } >part.d1
    { eval "$3"; } >part.d2
    { part 1 part.d1; part 1 part.d2; } >part.shape
    { number 1 1; part 2 part.shape; } >part.tensor
    part 1 part.tensor >part.type
    { word 1 "$2"; part 2 part.type; } >part.info
    part "$1" part.info
}
model() { # what a second dimension is
    { word 1 "x$broken"; word 2 "h$broken"; word 3 "n$broken"; word 4 Relu; } >part.first
    { word 1 "h$broken"; word 2 "y$broken"; word 3 "m$broken"; word 4 Exp; } >part.second
    { part 1 part.first; part 1 part.second; word 2 "g$broken"; end_of 11 "x$broken" "$1"; end_of 12 "y$broken" "$1"; } >part.graph
    number 2 17 >part.opset
    { number 1 8; word 2 "by$broken"; part 7 part.graph; part 8 part.opset; }
}
model 'number 1 64' >m.onnx
model 'word 2 "d$broken"' >open.onnx
bad=0
# Bytes that a terminal obeys: C0 but tab and line, DEL, C1, marks of direction.
scan() { # WHAT FILE
    if LC_ALL=C grep -qaP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]' "$2"; then
        echo "hostile_names.sh: $1 lets something through:"
        LC_ALL=C grep -aP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]' "$2" | head -2 | cat -v
        bad=1
    fi
    iconv -f UTF-8 -t UTF-8 "$2" >/dev/null 2>&1 || { echo "hostile_names.sh: $1: what it says is no UTF-8"; bad=1; }
}
try() {
    "$LXPLAN" "$@" >said 2>&1 </dev/null
    scan "$*" said
}
name=$(printf 'b\033]0;owned\007\033[2J\302\23331m\342\200\256\342\201\246<b>"')
for s in greedy exact auto; do "$LXPLAN" plan list.json -s $s -q -o "list_$s.plan"; done
"$LXPLAN" plan graph.json -q -o a.plan && "$LXPLAN" plan graph.json -s greedy --lx 1k -q -o b.plan || exit 1
"$LXPLAN" plan graph.json --team 2 -q -o team.plan || exit 1
"$LXPLAN" bench graph.json list.json -s greedy,exact -q -o rows.jsonl || exit 1
"$LXPLAN" plan m.onnx -q -o onnx.plan || exit 1
for f in graph.json list.json list.csv m.hlo m.mlir m.onnx open.onnx; do
    try plan $f
    try plan $f --json
    try check $f
    try show $f
    try show $f --buffers
    try show $f --buffers -f md
    try show $f --svg
    try show $f --html
    try import $f
    try explore $f --size 100x30 --script '<wait>' --dump-screen screen
    for k in 1 2 3 4 5 6 7 8 9; do
        "$LXPLAN" explore $f --size 100x30 --script "<wait>${k}jj<Enter>" --dump-screen screen >said 2>&1
        scan "explore $f, view $k" said
        [ -f screen ] && scan "explore $f, view $k" screen
    done
done
for f in a.plan b.plan list_auto.plan team.plan onnx.plan; do
    scan $f $f
    try check $f
    try show $f
    try run $f
    try explore $f --size 100x30 --script '<wait>2' --dump-screen screen
    scan "explore $f" screen
    for form in pattern dsa handover perfetto model-explorer model-explorer-hbm html; do try export $f -f $form; done
done
for stage in layout divide scratchpad launch loops; do try plan graph.json --stage $stage; done
for stage in layout divide scratchpad launch; do try plan m.onnx --stage $stage; done
try plan m.onnx --team 2
try import m.onnx --report report
[ ! -f report ] || scan "the report of m.onnx" report
try import open.onnx --strict
try import open.onnx --dim "d$broken=64"
try bench m.onnx -s greedy
try plan graph.json --stages
try plan graph.json --team 2 --stage team
try plan graph.json --team 2
try run graph.json --team 2
try plan list.json --explain "$name"
try plan list.json --explain nobody
try diff a.plan b.plan
try diff a.plan b.plan --json
try bench graph.json list.json -s greedy,exact
for form in text md json html; do try report rows.jsonl -f $form; done
try report rows.jsonl --by instance
try report rows.jsonl --plot
try report rows.jsonl rows.jsonl
try sweep graph.json -s greedy --steps 2 -j1
try loops graph.json --op nobody
try plan "$scratch/$name.json"
exit $bad
