# A newcomer's walk: open MoE MLP, find a buffer that is off chip and why, see which solver keeps it on chip, take
# it, save the plan; then the plan file says so, too.
cd "$scratch" || exit 3
see() { # KEYS
    $LXPLAN explore "$OLDPWD/patterns" --lx 850k -s greedy --objective bytes --size 100x30 --script "<wait>$1" --dump-screen s &&
        sed -E 's/ +[0-9.]+ [mun]?s  /      (time)  /' s
}
echo "== the map says what is off chip, and why"
see '/targets/moe<Enter><Enter><wait>'
echo "== a race says who keeps it on chip"
see '/targets/moe<Enter><Enter><wait>5r<wait>jjjjj'
echo "== whose plan is taken and saved"
see '/targets/moe<Enter><Enter><wait>5r<wait>jjjjj<Enter><wait>4W<Enter>'
$LXPLAN show moe_mlp.plan.json | grep down_2
