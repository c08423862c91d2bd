"""Does a certificate prove its claim? python3 check_certificate.py FILE: exit code 0 or 1.

Shares nothing with lxplan; lib/certificates.md has the model. That the facts of the certificate are those of
the plan is for `lxplan check` to say."""
import itertools
import json
import math
import sys

BITS = 20  # prices are in 2^-20 bytes. Places: 0 is HBM, 1 + 2 * hold on chip (one more: HBM lacks the value)
NEVER = 3  # of a tensor that may not come back: off chip until its last use


class Use:
    """All accesses of a tensor by one op."""

    def __init__(self, number, op, tensor, facts, barred):
        self.number, self.op, self.tensor, self.barred = number, op, tensor, barred
        self.whole, self.size, self.leaves, self.cuts = facts
        self.reads = self.writes = self.inserts = self.picked = self.gives = self.takes = False
        self.read = self.written = 0
        self.before = self.next = None
        self.views = []

    def holds(self, mask=0, chosen=(), tiles=()):
        """Levels, times through the tensor, and (bytes, fills) by hold; with the tiles of levels it has in a nest."""
        size, fills, holds = self.size, 1, {0: (self.size, 1)}
        for level, (axis, count) in enumerate(zip(chosen, tiles), 1):
            if mask >> axis & 1:
                size //= count
                holds[level] = size, fills
            else:
                fills *= count
        return len(chosen), 1 if self.picked else fills, holds

    def ways(self, holds, within, place):
        """(cost, size, place after, comes on chip, covers the nest, may take another's bytes) of each way."""
        levels, times, holds = holds
        never = not self.cuts and place == NEVER
        on = place > 0 and not never
        stored = self.whole if on and place % 2 == 0 and self.reads else 0
        wrote = self.written * (2 * times - 1)
        cost = self.read * times + (wrote if self.writes else 0) + stored
        after = NEVER if not self.cuts and self.stays and (never or not self.barred) else 0
        if self.cuts or not on or self.barred and (self.writes or not self.stays):
            yield cost, 0, after, False, False, False
        if self.barred and on and not self.writes and self.stays:
            yield cost, self.size, 1, False, False, False
        for h, (size, fills) in () if self.barred or never else holds.items():
            there, covers, cost = on and (place - 1) // 2 == h, h < levels, 0
            dirty = there and place % 2 == 0
            how = not there, covers, not there and not self.reads and not covers
            if not there and self.reads:
                cost = stored + self.whole * fills
                if self.writes and not self.inserts:
                    cost = min(cost, stored + self.read * times)
            if self.writes and self.reads:
                yield cost + wrote + (self.whole if dirty and self.inserts else 0), size, 0, *how
            if self.writes:
                cost, dirty = cost + (2 * fills - 1 if fills > 1 else 0) * self.whole, fills == 1
            if self.stays and (h == 0 or within):
                yield cost, size, 1 + 2 * h + dirty, *how
            if self.cuts or not self.stays:
                yield cost + (self.whole if dirty and self.needed else 0), size, 0, *how


class Proof:
    def __init__(self, c):
        self.ops, self.accesses, self.room, self.nests = c["ops"], c["accesses"], c["room"], c["nests"]
        self.by_op, last, n = [[] for _ in self.ops], {}, 0
        for op, tensor, reads, writes, barred, picked, gives, size, *view in self.accesses:
            written = any(v.writes for v in self.by_op[op])
            u = next((u for u in self.by_op[op] if u.tensor == tensor), None)
            if not u:
                u, n = Use(n, op, tensor, c["tensors"][tensor], barred), n + 1
                self.by_op[op].append(u)
                u.before, last[tensor] = last.get(tensor), u
                if u.before:
                    u.before.next = u
            u.reads, u.writes, u.inserts = u.reads or reads, u.writes or writes, u.inserts or reads and writes
            u.picked, u.gives, u.takes = u.picked or picked, u.gives or gives, u.takes or writes and not written
            u.read, u.written = u.read + (0 if writes else size), u.written + (size if writes else 0)
            u.views.append(view)
        self.uses = [u for uses in self.by_op for u in uses]
        for u in self.uses:
            u.takes = u.takes and not u.reads and any(v.gives for v in self.by_op[u.op])
            u.needed = u.next.reads if u.next else u.leaves
            u.stays = (u.next is not None and (u.next.reads or not u.cuts) and
                       not any(self.ops[o][1] for o in range(u.op, u.next.op + 1)))
        self.later = [{} for _ in range(len(self.ops) + 1)]  # per op: the next use of each tensor
        for o in reversed(range(len(self.ops))):
            self.later[o] = {**self.later[o + 1], **{u.tensor: u for u in self.by_op[o]}}

    def best(self, u, holds, nest, place, whole=True):
        """The least priced cost of a use and all later ones. A nest: (first op, last, holds, costs by use)."""
        inside, least = nest and u.next and u.next.op <= nest[1], math.inf
        for cost, size, after, begins, covers, turn in u.ways(holds, inside, place):
            begin = nest[0] if whole and covers and begins else u.op
            end = (u.next.op if u.next else len(self.ops)) if after else nest[1] + 1 if covers else u.op + 1
            value = (cost << BITS) + size * (self.sums[end] - self.sums[u.op + 1])
            if not (turn and u.takes):
                value += size * (self.sums[u.op + 1] - self.sums[begin])
            if u.next:
                value += (nest[3] if inside else self.ahead)[u.next.number][after]
            least = min(least, value)
        return least

    def runs(self):
        """Runs of ops that a nest may have, with each choice of levels: (first, last, masks, axes, divisors)."""
        for first, op in itertools.product(range(len(self.ops)), [None] if self.nests else []):
            root = {}

            def find(x):
                while root.setdefault(x, x) != x:
                    x = root[x]
                return x
            for last in range(first, len(self.ops)):
                if not self.ops[last][0]:
                    break
                for op, tensor, *rest in self.accesses:
                    for dim, var in enumerate(rest[6:] if op == last else ()):
                        root[find((op, var))] = find((-1 - tensor, dim))
                if first < last or len(self.by_op[first]) < sum(a[0] == first for a in self.accesses):
                    yield from self.levels(first, last, find)

    def levels(self, first, last, find):
        axes, masks = [], {u.number: 0 for o in range(first, last + 1) for u in self.by_op[o]}
        for v in range(len(self.ops[first]) - 3):
            same = [[w for w in range(len(self.ops[o]) - 3) if find((o, w)) == find((first, v))]
                    for o in range(first, last + 1)]
            if any(len(s) != 1 for s in same):
                continue
            divides = math.gcd(*(self.ops[o][3 + s[0]] for o, s in enumerate(same, first)))
            if divides > 1:
                for u in (u for o in range(first, last + 1) for u in self.by_op[o]):
                    masks[u.number] |= any(same[u.op - first][0] in v for v in u.views) << len(axes)
                axes.append([t for t in range(2, divides + 1) if divides % t == 0])
        for chosen in (c for n in (1, 2, 3) for c in itertools.permutations(range(len(axes)), n)):
            sums = (u for k in masks for u in [self.uses[k]] if u.writes and not self.ops[u.op][2] and
                    any(not masks[k] >> a & 1 for a in chosen))
            if not any(u.next and u.next.op <= last for u in sums):
                yield first, last, masks, chosen, [axes[a] for a in chosen]

    def nest(self, run, least, most, whole=True):
        """The nest with costs of its fewest tiles and sizes of its most; and how much more it costs."""
        first, last, masks, chosen, _ = run
        nest, excess = (first, last, {}, {}), 0
        for k in reversed(masks):
            u = self.uses[k]
            levels, times, small = u.holds(masks[k], chosen, most)
            _, times, few = u.holds(masks[k], chosen, least)
            holds = nest[2][k] = levels, times, {h: (small[h][0], few[h][1]) for h in few}
            places = [0, 1, 2] + [p for h in few if h for p in (2 * h + 1, 2 * h + 2)]
            nest[3][k] = {p: self.best(u, holds, nest, p, whole) for p in places}
            if not u.before or u.before.op < first:
                excess += min(nest[3][k][p] - self.ahead[k][p] for p in ([0, 1, 2] if u.before else [0]))
        return nest, excess

    def halve(self, run, ranges, below, leaf):
        """Calls leaf for the nests of a run whose excess is less than below(); ranges of tiles are halved."""
        tiles = list(zip(run[4], ranges))
        nest, excess = self.nest(run, [d[a] for d, (a, b) in tiles], [d[b] for d, (a, b) in tiles])
        if excess >= below():
            return
        k = max(range(len(ranges)), key=lambda k: ranges[k][1] - ranges[k][0])
        a, b = ranges[k]
        if a == b:
            return leaf(run, [d[a] for d, (a, b) in tiles], excess)
        for part in ((a + b) // 2 + 1, b), (a, (a + b) // 2):
            self.halve(run, ranges[:k] + [part] + ranges[k + 1:], below, leaf)

    def find_nests(self, top):
        """The nests of plans of at most `top`; sets what nests before and from an op on save at most."""
        n, least, found, runs = len(self.ops), {}, [], list(self.runs())
        behind, self.beyond = [0] * (n + 1), [0] * (n + 1)
        for r in runs:
            self.halve(r, [(0, len(d) - 1) for d in r[4]], lambda: least.get(r[:2], 0),
                       lambda run, tiles, excess: least.update({run[:2]: excess}))
        for o in range(n):
            behind[o + 1] = min([behind[o]] + [behind[a] + e for (a, b), e in least.items() if b == o])
        for o in reversed(range(n)):
            self.beyond[o] = min([self.beyond[o + 1]] + [self.beyond[b + 1] + e
                                                         for (a, b), e in least.items() if a == o])
        for r in runs if self.bound + self.beyond[0] <= top else []:
            limit = top + 1 - self.bound - behind[r[0]] - self.beyond[r[1] + 1]
            self.halve(r, [(0, len(d) - 1) for d in r[4]], lambda: limit,
                       lambda run, tiles, excess: found.append(self.nest(run, tiles, tiles, False)[0]))
        return found

    def size(self, u, nest, place):
        if not place or place == NEVER and not u.cuts:
            return 0
        return nest[2][u.number][2][(place - 1) // 2][0] if nest and u.op <= nest[1] else u.size

    def rest(self, o, nest, chip):
        """The least priced cost of all uses from op `o` on."""
        total = self.beyond[nest[1] + 1 if nest else o] - self.room * (self.sums[-1] - self.sums[o])
        for tensor, u in self.later[o].items():
            place = chip.get(tensor, 0)
            total += (nest[3] if nest and u.op <= nest[1] else self.ahead)[u.number][place]
            total += self.size(u, nest, place) * (self.sums[u.op] - self.sums[o])
        return total

    def step(self, o, nest, chip, idle, most):
        """What may follow op `o`: (cost, places, bytes idle until the nest ends, most bytes of its ops)."""
        uses = self.by_op[o]
        base = {t: p for t, p in chip.items() if all(u.tensor != t for u in uses)}
        through = idle + sum(self.size(self.later[o][t], nest, p) for t, p in base.items())
        for ways in itertools.product(*(u.ways(nest[2][u.number] if nest else u.holds(), nest and u.next and
                                               u.next.op <= nest[1], chip.get(u.tensor, 0)) for u in uses)):
            both = list(zip(uses, ways))
            given = max((w[1] for u, w in both if u.gives and not w[2] and not w[4]), default=0)
            shared = max((min(given, w[1]) for u, w in both if u.takes and w[5]), default=0)
            now = max(through - shared + sum(w[1] for w in ways), most + sum(w[1] for w in ways if w[3] and w[4]))
            if now <= self.room:
                yield (sum(w[0] for w in ways), {**base, **{u.tensor: w[2] for u, w in both if w[2]}},
                       idle + sum(w[1] for w in ways if w[4] and not w[2]), now)

    def proves(self, prices, least):
        """Does every plan move `least` bytes or more? States that may lead to less are followed op by op."""
        grain = max(1, math.gcd(*(u.whole for u in self.uses), *(a[7] for a in self.accesses)))
        top = (least - 1) // grain * grain << BITS
        self.sums, self.ahead = list(itertools.accumulate(prices, initial=0)), {}
        for u in reversed(self.uses):
            self.ahead[u.number] = [self.best(u, u.holds(), None, place) for place in range(4)]
        self.bound = sum(self.ahead[u.number][0] for u in self.uses if not u.before) - self.room * self.sums[-1]
        nests, layer = self.find_nests(top), {(-1, (), 0, 0): 0}
        for o in range(len(self.ops) if self.bound + self.beyond[0] <= top else 0):
            then = {}
            for (k, places, idle, most), cost in layer.items():
                for i in [k] if k >= 0 else [-1] + [i for i, nest in enumerate(nests) if nest[0] == o]:
                    nest = nests[i] if i >= 0 else None
                    for more, chip, left, now in self.step(o, nest, dict(places), idle, most):
                        ends = not nest or nest[1] == o
                        if (cost + more << BITS) + self.rest(o + 1, None if ends else nest, chip) <= top:
                            key = (-1 if ends else i, tuple(sorted(chip.items())), *((0, 0) if ends else (left, now)))
                            then[key] = min(then.get(key, math.inf), cost + more)
            layer = then
        return min(prices) >= 0 and (not layer or self.bound + self.beyond[0] > top)


def proved(c):
    if c["class"] == "compulsory":
        return min(c["must"]) >= 0 and sum(c["must"]) >= c["least"]
    if c["class"] == "load":
        return min(c["live"]) >= 0 and sum(c["live"]) - c["padding"] >= c["least"]
    return Proof(c).proves(c["prices"], c["least"])


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        certificate = json.load(file)
    ok = proved(certificate)
    print(f"{certificate['class']}: {'at least' if ok else 'not proved:'} {certificate['least']}")
    sys.exit(not ok)
