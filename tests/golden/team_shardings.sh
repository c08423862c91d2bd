# Shardings of HLO for a team: those that axes of the grid have are kept, of the others it is said that they are not, and why.
model() { # SHARDING-OF-X SHARDING-OF-W ATTRIBUTES-OF-THE-PRODUCT
    cat <<END
HloModule m, num_partitions=4
ENTRY %main (x: f32[16,64], w: f32[64,32]) -> f32[16,32] {
  %x = f32[16,64]{1,0} parameter(0)$1
  %w = f32[64,32]{1,0} parameter(1)$2
  ROOT %y = f32[16,32]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}$3
}
END
}
try() {
    echo "== $*"
    model "$@" >"$scratch/m.hlo"
    $LXPLAN plan "$scratch/m.hlo" --team 2x2 --stage team 2>&1 | sed -n -e '/lxplan:/p' -e '/^  [xwy] /p' -e '/^exchanged/p'
}
grid=', sharding={devices=[2,2]<=[4]}'
try "$grid" ', sharding={devices=[2,2]<=[2,2]T(1,0)}'
try "$grid" ', sharding={devices=[2,1,2]<=[4] last_tile_dims={replicated}}'
try "$grid" ', sharding={devices=[2,1,2]<=[4] last_tile_dims={manual}}'
try "$grid" ', sharding={devices=[2,2]3,2,1,0}'
try "$grid" ', sharding={devices=[4,1]<=[2,2]T(1,0)}'
try "$grid" ', sharding={devices=[2,2]0,9223372036854775807,1,3}'
try "$grid" ', sharding={maximal device=1}'
try "$grid" ', sharding={manual}'
try "$grid" ', sharding={replicated}' ', sharding={devices=[4,1]<=[4]}'
# devices in another order than their numbers have, the same one for all
try ', sharding={devices=[2,2]3,2,1,0}' ', sharding={devices=[2,2]3,1,2,0}'
try ', sharding={devices=[2,1,2]0,1,3,2 last_tile_dim_replicate}' ', sharding={devices=[1,2,2]0,3,1,2 last_tile_dim_replicate}' \
    ', sharding={devices=[2,2]0,1,3,2}'
model "$grid" ', sharding={manual}' >"$scratch/m.hlo"
$LXPLAN import "$scratch/m.hlo" --report "$scratch/report.json" -o "$scratch/m.json" >"$scratch/said" && grep -n 'not kept' "$scratch/report.json"
echo "a model of one device, for a team and for one:"
model ', sharding={replicated}' | sed 's/, num_partitions=4//' >"$scratch/one.hlo"
$LXPLAN plan "$scratch/one.hlo" --team 2 --stage team 2>&1 | sed -n -e "/lxplan:/p" -e "/^exchanged/p"
$LXPLAN import "$scratch/one.hlo" --report "$scratch/report.json" -o "$scratch/one.json" >"$scratch/said"; grep -o '"shardings not kept".*' "$scratch/report.json"
