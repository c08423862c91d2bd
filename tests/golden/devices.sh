# Devices: listed, printed as files, and planned for; mistakes in a file, and a plan that stands without it.
cd "$scratch" || exit 3
graph=$OLDPWD/patterns/graphs/softmax_512x1024.json
$LXPLAN devices
$LXPLAN devices --names
$LXPLAN devices spyre >d.json
sed -n '1,8p; /"launch_us"/p; /"sync_us"/,$p' d.json
for device in spyre d.json; do $LXPLAN plan "$graph" -s bestfit -q -D $device -o $device.plan; done
cmp spyre.plan d.json.plan && echo "the same plan"
$LXPLAN devices d.json cores=16 lx_bytes=65536 | diff d.json -
sed 's/"name": "spyre"/"name": "mine"/; s/"value": 21.4/"value": 30/' d.json >mine.json
$LXPLAN plan "$graph" -s bestfit -D mine.json -o mine.plan | grep -e device -e time
mv mine.json gone
$LXPLAN check mine.plan; echo "exit $?"
sed 's/"sync_us"/"sync_ms"/' d.json >bad.json; $LXPLAN plan "$graph" -D bad.json; echo "exit $?"
sed '/"sync_us"/d' d.json >bad.json; $LXPLAN plan "$graph" -D bad.json; echo "exit $?"
sed 's/"value": 150/"value": 0/' d.json >bad.json; $LXPLAN plan "$graph" -D bad.json; echo "exit $?"
$LXPLAN plan "$graph" -D nowhere.json; echo "exit $?"
$LXPLAN plan "$graph" -D moon; echo "exit $?"
$LXPLAN devices moon; echo "exit $?"
$LXPLAN calibrate --on moon; echo "exit $?"
