# Why a tensor of a team is cut as it is, and what every other cut costs: found, stated, as inputs arrive; by bytes and by time;
# all tensors; as JSON; names that are not there.
show() {
    "$@" 2>&1
    printf 'exit %s\n' $?
}
show $LXPLAN plan patterns/team/mlp_grid.json --team 2x2 --explain w1 --explain x
show $LXPLAN plan patterns/team/mlp_grid.json --team 2x2 --cut w1=-,1 --explain w1
show $LXPLAN plan patterns/team/mlp_grid.json --team 2 --team-by time --explain act
show $LXPLAN plan patterns/grids/mlp_with_cuts.json --team 2x2 --explain .
show $LXPLAN plan patterns/team/mlp_grid.json --team 2 --json --explain w2 --explain y
show $LXPLAN plan patterns/team/mlp_grid.json --team 2 --explain w3
show $LXPLAN plan patterns/team/mlp_grid.json --team 2 --explain elsewhere
show $LXPLAN plan patterns/team/mlp_grid.json --team 2 --explain w1 -o -
