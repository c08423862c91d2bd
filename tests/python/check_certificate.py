"""Does a certificate prove its claim? python3 check_certificate.py FILE: exit code 0 or 1. Shares nothing with
lxplan; lib/certificates.md has the model. `lxplan check` says whether its facts are those of the plan."""
import itertools, json, math, sys, types
BITS = 20  # prices are in 2^-20 bytes. Places: 0 is HBM, 1 + 2 * hold on chip (one more: HBM lacks the value)
NEVER = 3  # of a tensor that may not come back: off chip until its last use

def holds_of(u, mask=0, chosen=(), tiles=()):
    """Levels, times through the tensor of a use, and its (bytes, fills) by hold, under the tiles of a nest."""
    size, fills, holds = u.size, 1, {0: (u.size, 1)}
    for level, (axis, count) in enumerate(zip(chosen, tiles), 1):
        if mask >> axis & 1:
            size //= count
            holds[level] = size, fills
        else:
            fills *= count
    return len(chosen), 1 if u.picked else fills, holds

def ways_of(u, holds, within, place):
    """(cost, size, place after, comes on chip, covers the nest, may take another's bytes) of each way."""
    levels, times, holds = holds
    never = not u.cuts and place == NEVER
    on = place > 0 and not never
    stored = u.whole if on and place % 2 == 0 and u.reads else 0
    wrote = u.written * (2 * times - 1)  # 0 if the use only reads
    cost = u.read * times + wrote + stored
    if u.cuts or not on or u.barred and (u.writes or not u.stays):
        yield cost, 0, NEVER if not u.cuts and u.stays and (never or not u.barred) else 0, 0, 0, 0
    if u.barred and on and not u.writes and u.stays:
        yield cost, u.size, 1, 0, 0, 0
    for h, (size, fills) in () if u.barred or never else holds.items():
        there, covers, cost = on and (place - 1) // 2 == h, h < levels, 0
        dirty = there and place % 2 == 0
        how = not there, covers, not there and not u.reads and not covers
        if not there and u.reads:
            cost = stored + u.whole * fills
            if u.writes and not u.inserts:
                cost = min(cost, stored + u.read * times)
        if u.writes and u.reads:
            yield cost + wrote + (u.whole if dirty and u.inserts else 0), size, 0, *how
        if u.writes:
            cost, dirty = cost + (2 * fills - 1 if fills > 1 else 0) * u.whole, fills == 1
        if u.stays and (h == 0 or within):
            yield cost, size, 1 + 2 * h + dirty, *how
        if u.cuts or not u.stays:
            yield cost + (u.whole if dirty and u.needed else 0), size, 0, *how

class Proof:
    def __init__(self, c):
        self.ops, self.accesses, self.room, self.nests = c["ops"], c["accesses"], c["room"], c["nests"]
        self.by_op, last, self.uses = [[] for _ in self.ops], {}, []  # a use: all accesses of a tensor by an op
        for op, tensor, reads, writes, barred, picked, gives, size, *view in self.accesses:
            written = any(v.writes for v in self.by_op[op])
            u = next((u for u in self.by_op[op] if u.tensor == tensor), None)
            if not u:
                facts = dict(zip(("whole", "size", "needed", "cuts"), c["tensors"][tensor]), op=op, tensor=tensor)
                zero = dict.fromkeys("reads writes inserts picked gives takes read written stays".split(), 0)
                u = types.SimpleNamespace(**facts, **zero, barred=barred, number=len(self.uses), views=[], next=None)
                u.before, last[tensor] = last.get(tensor), u
                self.by_op[op].append(u)
                self.uses.append(u)
                if u.before:
                    u.before.next = u
            u.reads, u.writes, u.inserts = u.reads or reads, u.writes or writes, u.inserts or reads and writes
            u.picked, u.gives, u.takes = u.picked or picked, u.gives or gives, u.takes or writes and not written
            u.read, u.written = u.read + (0 if writes else size), u.written + (size if writes else 0)
            u.views.append(view)
        for u in self.uses:
            u.takes = u.takes and not u.reads and any(v.gives for v in self.by_op[u.op])
            if u.next:
                wiped = any(self.ops[o][1] for o in range(u.op, u.next.op + 1))
                u.needed, u.stays = u.next.reads, (u.next.reads or not u.cuts) and not wiped
        self.later = [{} for _ in range(len(self.ops) + 1)]  # per op: the next use of each tensor
        for o in reversed(range(len(self.ops))):
            self.later[o] = {**self.later[o + 1], **{u.tensor: u for u in self.by_op[o]}}
    def best(self, u, holds, nest, place, whole=True):
        """The least priced cost of a use and all later ones. A nest: (first op, last, holds, costs by use)."""
        inside, least = nest and u.next and u.next.op <= nest[1], math.inf
        for cost, size, after, begins, covers, turn in ways_of(u, holds, inside, place):
            begin = nest[0] if whole and covers and begins else u.op
            end = (u.next.op if u.next else len(self.ops)) if after else nest[1] + 1 if covers else u.op + 1
            value = (cost << BITS) + size * (self.sums[end] - self.sums[u.op + 1])
            value += 0 if turn and u.takes else size * (self.sums[u.op + 1] - self.sums[begin])
            value += (nest[3] if inside else self.ahead)[u.next.number][after] if u.next else 0
            least = min(least, value)
        return least
    def runs(self):
        """Runs that a nest may have, with each choice of levels: (first op, last, masks, axes, divisors)."""
        for first in range(len(self.ops) if self.nests else 0):
            root = {}  # union-find of variables of ops and dimensions of tensors
            def find(x):
                return x if root.setdefault(x, x) == x else find(root[x])
            for last in itertools.takewhile(lambda o: self.ops[o][0], range(first, len(self.ops))):
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
            if all(len(s) == 1 for s in same):
                divides = math.gcd(*(self.ops[o][3 + s[0]] for o, s in enumerate(same, first)))
                for k in masks if divides > 1 else ():
                    masks[k] |= any(same[self.uses[k].op - first][0] in v for v in self.uses[k].views) << len(axes)
                axes += [[t for t in range(2, divides + 1) if divides % t == 0]] * (divides > 1)
        for chosen in (c for n in (1, 2, 3) for c in itertools.permutations(range(len(axes)), n)):
            sums = (u for u in (self.uses[k] for k in masks) if u.writes and not self.ops[u.op][2] and
                    any(not masks[u.number] >> a & 1 for a in chosen))
            if not any(u.next and u.next.op <= last for u in sums):
                yield first, last, masks, chosen, [axes[a] for a in chosen]
    def nest(self, run, least, most, whole=True):
        """The nest with costs of its fewest tiles and sizes of its most; and how much more it costs."""
        first, last, masks, chosen, _ = run
        nest, excess = (first, last, {}, {}), 0
        for u in (self.uses[k] for k in reversed(masks)):
            (levels, _, small), (_, times, few) = (holds_of(u, masks[u.number], chosen, t) for t in (most, least))
            holds = nest[2][u.number] = levels, times, {h: (small[h][0], few[h][1]) for h in few}
            places = [0, 1, 2] + [p for h in few if h for p in (2 * h + 1, 2 * h + 2)]
            costs = nest[3][u.number] = {p: self.best(u, holds, nest, p, whole) for p in places}
            if not u.before or u.before.op < first:
                excess += min(costs[p] - self.ahead[u.number][p] for p in ([0, 1, 2] if u.before else [0]))
        return nest, excess
    def halve(self, run, ranges, below, leaf):
        """Calls leaf for the nests of a run whose excess is less than below(); ranges of tiles are halved."""
        least, most = ([d[r[end]] for d, r in zip(run[4], ranges)] for end in (0, 1))
        excess = self.nest(run, least, most)[1]
        span, k = max((b - a, k) for k, (a, b) in enumerate(ranges))
        if excess < below() and span == 0:
            leaf(run, least, excess)
        for part in ((1 + span // 2, span), (0, span // 2)) if excess < below() and span else ():
            self.halve(run, ranges[:k] + [tuple(ranges[k][0] + x for x in part)] + ranges[k + 1:], below, leaf)
    def find_nests(self, top):  # the nests of plans of at most `top`; sets what nests from an op on save at most
        n, least, found, runs = len(self.ops), {}, [], [(r, [(0, len(d) - 1) for d in r[4]]) for r in self.runs()]
        behind, self.beyond = [0] * (n + 1), [0] * (n + 1)
        for r, all_tiles in runs:
            self.halve(r, all_tiles, lambda: least.get(r[:2], 0), lambda r, _, excess: least.update({r[:2]: excess}))
        for o in range(n):
            behind[o + 1] = min([behind[o], *(behind[a] + e for (a, b), e in least.items() if b == o)])
        for o in reversed(range(n)):
            self.beyond[o] = min([self.beyond[o + 1], *(e + self.beyond[b + 1] for (a, b), e in least.items() if a == o)])
        for r, all_tiles in runs if self.bound + self.beyond[0] <= top else ():
            limit = top + 1 - self.bound - behind[r[0]] - self.beyond[r[1] + 1]
            self.halve(r, all_tiles, lambda: limit, lambda r, tiles, _: found.append(self.nest(r, tiles, tiles, False)[0]))
        return found
    def size(self, u, nest, place):
        place = place if u.cuts or place != NEVER else 0
        return 0 if not place else nest[2][u.number][2][(place - 1) // 2][0] if nest and u.op <= nest[1] else u.size
    def rest(self, o, nest, chip):  # the least priced cost of all uses from op `o` on
        total = self.beyond[nest[1] + 1 if nest else o] - self.room * (self.sums[-1] - self.sums[o])
        for u, place in ((u, chip.get(tensor, 0)) for tensor, u in self.later[o].items()):
            total += (nest[3] if nest and u.op <= nest[1] else self.ahead)[u.number][place]
            total += self.size(u, nest, place) * (self.sums[u.op] - self.sums[o])
        return total
    def step(self, o, nest, chip, idle, most):
        """What may follow op `o`: (cost, places, bytes idle until the nest ends, most bytes of its ops)."""
        uses = self.by_op[o]
        base = {t: p for t, p in chip.items() if all(u.tensor != t for u in uses)}
        through = idle + sum(self.size(self.later[o][t], nest, p) for t, p in base.items())
        inside = {u.number for u in uses if nest and u.next and u.next.op <= nest[1]}
        lists = (ways_of(u, nest[2][u.number] if nest else holds_of(u), u.number in inside, chip.get(u.tensor, 0))
                 for u in uses)
        for ways in itertools.product(*lists):
            both = list(zip(uses, ways))
            given = max((w[1] for u, w in both if u.gives and not w[2] and not w[4]), default=0)
            shared = max((min(given, w[1]) for u, w in both if u.takes and w[5]), default=0)
            now = max(through - shared + sum(w[1] for w in ways), most + sum(w[1] for w in ways if w[3] and w[4]))
            if now <= self.room:
                yield (sum(w[0] for w in ways), {**base, **{u.tensor: w[2] for u, w in both if w[2]}},
                       idle + sum(w[1] for w in ways if w[4] and not w[2]), now)
    def proves(self, prices, total, least):
        """Does every plan move `least` bytes or more? States that may lead to less are followed op by op."""
        grain = max(1, math.gcd(*(u.whole for u in self.uses), *(a[7] for a in self.accesses)))
        top = (least - 1) // grain * grain << BITS
        self.sums, self.ahead = list(itertools.accumulate(prices, initial=0)), {}
        for u in reversed(self.uses):
            self.ahead[u.number] = [self.best(u, holds_of(u), None, place) for place in range(4)]
        self.bound = sum(self.ahead[u.number][0] for u in self.uses if not u.before) - self.room * self.sums[-1]
        nests, layer = self.find_nests(top), {(-1, (), 0, 0): 0}
        for o in range(len(self.ops) if self.bound + self.beyond[0] <= top else 0):
            states, layer = layer, {}
            for (k, places, idle, most), cost in states.items():
                for i in [k] if k >= 0 else [-1] + [i for i, nest in enumerate(nests) if nest[0] == o]:
                    nest = nests[i] if i >= 0 else None
                    ends = not nest or nest[1] == o
                    for more, chip, left, now in self.step(o, nest, dict(places), idle, most):
                        if (cost + more << BITS) + self.rest(o + 1, None if ends else nest, chip) <= top:
                            key = (-1 if ends else i, tuple(sorted(chip.items())), *((0, 0) if ends else (left, now)))
                            layer[key] = min(layer.get(key, math.inf), cost + more)
        same = (self.bound + sum(o * p for o, p in enumerate(prices, 1))) % 2 ** 53 == total
        return min(prices, default=0) >= 0 and same and (not layer or self.bound + self.beyond[0] > top)

def proved(c):
    if c["class"] in ("compulsory", "load"):
        return sum(max(0, x) for x in c.get("must", c.get("live"))) - max(0, c.get("padding", 0)) >= c["least"]
    return Proof(c).proves(c["prices"], c["sum"], c["least"])

if __name__ == "__main__":
    sys.exit(not proved(json.load(open(sys.argv[1], encoding="utf-8"))))
