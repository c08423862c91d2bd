# Teams' plans looked at: `show` as text, tables and page, `diff` of two of them, and what is refused.
show() {
    "$@" 2>&1
    printf 'exit %s\n' $?
}
export LC_ALL=C
mlp=patterns/team/mlp_grid.json
$LXPLAN plan $mlp --team 2x2 -q -o "$scratch/bytes.plan"
$LXPLAN plan $mlp --team 2x2 --cut w1=-,1 -q -o "$scratch/columns.plan"
$LXPLAN plan $mlp --team 2 -q -o "$scratch/row.plan"
$LXPLAN plan $mlp -q -o "$scratch/single.plan"
$LXPLAN plan patterns/team/stencil_grid.json --team 2x4 -q -o "$scratch/stencil.plan"
show $LXPLAN show "$scratch/columns.plan"
show $LXPLAN show "$scratch/columns.plan" --format csv
show $LXPLAN show "$scratch/columns.plan" --format json
$LXPLAN show "$scratch/stencil.plan" --width 60 | tail -23
show $LXPLAN show "$scratch/columns.plan" --html -o "$scratch/page.html"
$LXPLAN export "$scratch/columns.plan" --format html | cmp - "$scratch/page.html" && echo the same page
grep -c -e '"spans": \[\[0,' "$scratch/page.html"
show $LXPLAN show "$scratch/columns.plan" --svg
show $LXPLAN show "$scratch/columns.plan" --buffers
show $LXPLAN show "$scratch/columns.plan" --cores 4
show $LXPLAN show "$scratch/single.plan" --format json
show $LXPLAN export "$scratch/columns.plan" --format handover
show $LXPLAN diff "$scratch/bytes.plan" "$scratch/columns.plan"
show $LXPLAN diff "$scratch/bytes.plan" "$scratch/columns.plan" --json
show $LXPLAN diff "$scratch/bytes.plan" "$scratch/bytes.plan"
show $LXPLAN diff "$scratch/row.plan" "$scratch/columns.plan"
show $LXPLAN diff "$scratch/row.plan" "$scratch/columns.plan" -q
show $LXPLAN diff "$scratch/single.plan" "$scratch/columns.plan"
show $LXPLAN diff "$scratch/columns.plan" "$scratch/stencil.plan"
