#!/bin/bash
# packages.sh FOLDER [ROOT]: tries the Debian packages of FOLDER in a chroot: installs all, plans with the program, from C
# through pkg-config and from Python, looks at manual and completions, removes them again and finds nothing left.
# ROOT: a Debian system to install into (made by debootstrap where it is not there, from this machine's own mirror, and kept);
# without it one is made and thrown away. Ends with 77 where there is no debootstrap or no right to chroot.
set -euo pipefail
folder=$(realpath "$1") root=${2:-} kept=${2:+yes}
skip() { echo "skipped: $*"; exit 77; }
say() { echo "packages.sh: $*"; }

[ "$(id -u)" = 0 ] || skip "only root may chroot"
command -v debootstrap >/dev/null || skip "there is no debootstrap"
shopt -s nullglob
debs=("$folder"/*.deb)
[ ${#debs[@]} = 6 ] || { say "there are ${#debs[@]} packages in $folder instead of 6"; exit 1; }

mirror_of_this_machine() {
    local files=(/etc/apt/sources.list /etc/apt/sources.list.d/*)
    cat "${files[@]}" 2>/dev/null | sed -n -E 's/^URIs: *([^ ]+).*/\1/p; s/^deb +(\[[^]]*\] +)?([^ ]+) .*/\2/p' | head -n 1
}

[ -n "$root" ] || root=$(mktemp -d /tmp/lxplan_root_XXXXXX)
clean() {
    rm -rf "$root/tmp/lxplan"
    umount "$root/proc" 2>/dev/null || true
    [ -n "$kept" ] || rm -rf "$root"
}
trap clean EXIT
if [ ! -x "$root/usr/bin/apt-get" ]; then
    say "makes a Debian in $root"
    debootstrap --variant=minbase --include=gcc,libc6-dev,pkg-config,python3-minimal bookworm "$root" "$(mirror_of_this_machine)" >"$root.log" 2>&1 ||
        { tail -n 20 "$root.log"; rm -f "$root.log"; exit 1; }
    rm -f "$root.log"
fi
mkdir -p "$root/tmp/lxplan"
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc" 2>/dev/null || true
cp "${debs[@]}" "$root/tmp/lxplan/"
cp /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true

cat >"$root/tmp/lxplan/try.c" <<'C'
#include <lxplan/lxplan.h>
#include <stdio.h>
int main(void)
{
    lx_placement *p = lx_placement_new("cost", 64, NULL);
    lx_placement_pool(p, "lx", 256, NULL);
    lx_placement_buffer(p, "a", 128, 0, 4, 128, NULL);
    lx_placement_buffer(p, "b", 128, 1, 3, 128, NULL);
    lx_result *r = lx_solve(p, NULL, NULL);
    puts(r ? lx_result_word(r, "status") : "none");
    lx_result_free(r);
    lx_placement_free(p);
    return 0;
}
C
cat >"$root/tmp/lxplan/try.py" <<'P'
import lxplan
with open("/usr/share/lxplan/patterns/targets/gqattention.json", "rb") as f:
    print(lxplan.Graph.parse(f.read()).plan().hbm_bytes)
P
cat >"$root/tmp/lxplan/inside" <<'S'
set -eux
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
unset PYTHONDONTWRITEBYTECODE # what Python leaves behind must go with the package, too
apt-get -q update || true
apt-get -q -y --no-install-recommends install /tmp/lxplan/*.deb
cd /tmp/lxplan
test "$(lxplan --version | cut -d' ' -f1)" = lxplan
lxplan plan /usr/share/lxplan/patterns/targets/gqattention.json -o plan.json -q
lxplan check plan.json
ldd /usr/bin/lxplan | grep -E 'glpk|mpi' && exit 1
lxplan plan /usr/share/lxplan/patterns/targets/staircase.json -s ilp --json | grep -q '"solver": {"name": "ilp"'
gzip -t /usr/share/man/man1/lxplan.1.gz
bash -n /usr/share/bash-completion/completions/lxplan
test -s /usr/share/zsh/vendor-completions/_lxplan # where Debian's zsh looks
test -s /usr/share/fish/vendor_completions.d/lxplan.fish
for p in lxplan lxplan-ilp lxplan-mpi liblxplan0 liblxplan-dev python3-lxplan; do
    test -s /usr/share/doc/$p/copyright
    gzip -t /usr/share/doc/$p/changelog.gz
done
gcc -Wall -Werror try.c -o try $(pkg-config --cflags --libs lxplan)
test "$(./try)" = optimal
ldd ./try | grep -q liblxplan.so.0
test "$(python3 try.py)" = 1719040
apt-get -q -y purge lxplan lxplan-ilp lxplan-mpi liblxplan0 liblxplan-dev python3-lxplan
test -z "$(find / -xdev \( -path /proc -o -path /tmp -o -path /var \) -prune -o -name '*lxplan*' -print)"
S
chroot "$root" /bin/bash /tmp/lxplan/inside >"$root/tmp/log" 2>&1 || { tail -n 30 "$root/tmp/log"; say "FAILED"; exit 1; }
say "installed, tried from a shell, C and Python, and removed: ${debs[*]##*/}"
