"""Checks a certificate by its facts alone: python3 check_certificate.py FILE.

Shares nothing with lxplan; lib/certificates.md has the model. That the facts are those of the plan is for
`lxplan check` to say. Exit code 0: proved; 1: not."""
import itertools
import json
import math
import sys

BITS, CHIP, DIRTY = 20, 1, 2  # prices are in 2^-20 bytes; places: 0 is HBM, 1 + 2 * hold (+ 1: HBM lacks it)


class Use:
    """All accesses of a tensor by one op."""

    def __init__(self, op, tensor, tensors, barred):
        self.op, self.tensor, self.barred = op, tensor, barred
        self.whole, self.size, self.leaves = tensors[tensor]
        self.reads = self.writes = self.inserts = self.picked = self.gives = self.takes = False
        self.read = self.written = 0
        self.before = self.next = None
        self.views = []


class Plain:
    """Outside of nests: a tensor is on chip whole."""

    def __init__(self, u):
        self.levels, self.times, self.holds = 0, 1, {0: (u.size, 1)}


class Holds:
    """Of a use in a nest: bytes and fills of its holds, between the fewest and the most tiles."""

    def __init__(self, u, mask, axes, least, most):
        self.levels, size, fills, self.holds = len(axes), u.size, 1, {0: (u.size, 1)}
        for level, axis in enumerate(axes):
            if mask >> axis & 1:
                size //= most[level]
                self.holds[level + 1] = (size, fills)
            else:
                fills *= least[level]
        self.times = 1 if u.picked else fills


class Room:
    def __init__(self, c):
        self.room, self.cuts, self.nests = c["room"], c["cuts"], c["nests"]
        self.ops, self.accesses, n = c["ops"], c["accesses"], len(c["ops"])
        self.uses, self.at, last = [], [0] * (n + 1), {}
        for op, tensor, reads, writes, barred, picked, gives, size, *view in self.accesses:
            u = next((u for u in self.uses[self.at[op]:] if u.tensor == tensor and u.op == op), None)
            if u is None:
                u = Use(op, tensor, c["tensors"], barred)
                self.uses.append(u)
                u.before = last.get(tensor)
                if u.before:
                    u.before.next = u
                last[tensor] = u
                first = not any(v.writes for v in self.uses[self.at[op]:])
            u.reads |= bool(reads)
            u.inserts |= bool(reads and writes)
            u.picked |= bool(picked)
            u.gives |= bool(gives)
            if writes:
                u.takes = not any(v.writes for v in self.uses[self.at[op]:])
                u.writes, u.written = True, u.written + size
            else:
                u.read += size
            u.views.append(view)
            for o in range(op + 1, n + 1):
                self.at[o] = len(self.uses)
        for i, u in enumerate(self.uses):
            u.number, v = i, u.next
            u.takes &= not u.reads and any(w.gives for w in self.uses[self.at[u.op]:self.at[u.op + 1]])
            u.needed = v.reads if v else u.leaves
            u.stays = bool(v and v.reads and not any(self.ops[o][1] for o in range(u.op, v.op + 1)))

    def ways(self, u, y, within, place):
        """(cost, size, place after, begins, covers the nest, may take another's bytes) of each way."""
        on, dirty = place > 0, place > 0 and place % 2 == 0
        stored = u.whole if dirty and u.reads else 0
        wrote = u.written * (2 * y.times - 1)
        cost = u.read * y.times + (wrote if u.writes else 0) + stored
        out = [(cost, 0, 0, False, False, False)]
        if u.barred:
            return out + [(cost, u.size, CHIP, False, False, False)] * (on and not u.writes and u.stays)
        for h, (size, fills) in y.holds.items():
            there, covers, cost = on and (place - 1) // 2 == h, h < y.levels, 0
            unsaved = there and dirty
            if not there and u.reads:
                cost = stored + u.whole * fills
                if u.writes and not u.inserts:
                    cost = min(cost, stored + u.read * y.times)
            kind = (not there, covers, not there and not u.reads and not covers)
            if u.writes and u.reads:
                out.append((cost + wrote + (u.whole if unsaved and u.inserts else 0), size, 0) + kind)
            if u.writes:
                cost, unsaved = cost + (2 * fills - 2 + (fills > 1)) * u.whole, fills == 1
            if u.stays and (h == 0 or within):
                out.append((cost, size, 1 + 2 * h + unsaved) + kind)
            out.append((cost + (u.whole if unsaved and u.needed else 0), size, 0) + kind)
        return out

    def set_prices(self, prices):
        self.sums = [0]
        for p in prices:
            self.sums.append(self.sums[-1] + p)
        self.ahead = [None] * len(self.uses)
        for u in reversed(self.uses):
            self.ahead[u.number] = [self.best(u, Plain(u), None, place) for place in range(3)]
        return sum(self.ahead[u.number][0] for u in self.uses if not u.before) - self.room * self.sums[-1]

    def later(self, u, nest, size, after, covers):
        """The least priced cost behind a use."""
        n, op = len(self.ops), u.next.op if u.next else len(self.ops)
        until = op if after else nest[1] + 1 if covers else u.op + 1
        cost = size * (self.sums[until] - self.sums[u.op + 1])
        if not u.next:
            return cost
        return cost + (nest[3][u.next.number] if nest and op <= nest[1] else self.ahead[u.next.number])[after]

    def best(self, u, y, nest, place, whole=True):
        within = bool(nest and u.next and u.next.op <= nest[1])
        least = None
        for cost, size, after, begins, covers, turn in self.ways(u, y, within, place):
            start = nest[0] if whole and covers and begins else u.op
            priced = 0 if turn and u.takes else size * (self.sums[u.op + 1] - self.sums[start])
            value = (cost << BITS) + priced + self.later(u, nest, size, after, covers)
            least = value if least is None else min(least, value)
        return least

    # Nests: runs of ops with one to three levels; each level cuts one variable of every op.

    def axes(self, first, last):
        """The axes of a run: (variable of each op, divisors of its tiles from 2 on)."""
        root = {}

        def find(x):
            while root.setdefault(x, x) != x:
                x = root[x]
            return x
        for op, tensor, *rest in self.accesses:
            for dim, var in enumerate(rest[6:] if first <= op <= last else ()):
                root[find(("v", op, var))] = find(("t", tensor, dim))
        out = []
        for v in range(len(self.ops[first]) - 3):
            same = [[w for w in range(len(self.ops[o]) - 3) if find(("v", o, w)) == find(("v", first, v))]
                    for o in range(first, last + 1)]
            if any(len(s) != 1 for s in same):
                continue
            divides = 0
            for o, (w,) in enumerate(same, first):
                divides = math.gcd(divides, self.ops[o][3 + w])
            if divides > 1:
                out.append(([w for w, in same], [t for t in range(2, divides + 1) if divides % t == 0]))
        return out

    def runs(self):
        """Each run of ops with each choice of levels: (first, last, masks of the uses, axes, divisors)."""
        for first in range(len(self.ops)):
            for last in range(first, len(self.ops)):
                if not self.ops[last][0]:
                    break
                inside = self.uses[self.at[first]:self.at[last + 1]]
                accesses = sum(first <= a[0] <= last for a in self.accesses)
                if first == last and len(inside) == accesses:
                    continue
                axes = self.axes(first, last)
                masks = {u.number: sum(1 << a for a, (variables, _) in enumerate(axes)
                                       if any(variables[u.op - first] in v for v in u.views)) for u in inside}
                for levels in (1, 2, 3):
                    for chosen in itertools.permutations(range(len(axes)), levels):
                        every = sum(1 << a for a in chosen)
                        if not any(u.writes and u.next and u.next.op <= last and every & ~masks[u.number] and
                                   not self.ops[u.op][2] for u in inside):
                            yield first, last, inside, masks, chosen, [axes[a][1] for a in chosen]

    def nest(self, run, least, most, whole=True):
        """The nest with its least priced costs, and by how much they are above those outside of it."""
        first, last, inside, masks, chosen, _ = run
        holds, ahead, excess = {}, {}, 0
        nest = (first, last, holds, ahead)
        for u in reversed(inside):
            y = holds[u.number] = Holds(u, masks[u.number], chosen, least, most)
            begins = not u.before or u.before.op < first
            places = [0, 1, 2] if begins else [p for h in sorted({0, *y.holds}) for p in (2 * h + 1, 2 * h + 2)]
            ahead[u.number] = {p: self.best(u, y, nest, p, whole) for p in {0, *places}}
            if begins:
                excess += min(ahead[u.number][p] - self.ahead[u.number][p] for p in (places if u.before else [0]))
        return nest, excess

    def halve(self, run, ranges, below, leaf):
        """Calls leaf for every nest of the run whose excess may be below below()."""
        least = [run[5][k][a] for k, (a, b) in enumerate(ranges)]
        most = [run[5][k][b] for k, (a, b) in enumerate(ranges)]
        nest, excess = self.nest(run, least, most)
        self.steps += 1
        if excess >= below():
            return
        k = max(range(len(ranges)), key=lambda k: ranges[k][1] - ranges[k][0])
        a, b = ranges[k]
        if a == b:
            leaf(run, least, excess)
            return
        for part in ((a + b) // 2 + 1, b), (a, (a + b) // 2):
            self.halve(run, ranges[:k] + [part] + ranges[k + 1:], below, leaf)

    def find_nests(self, top):
        """The nests that a plan of at most `top` may have; sets what nests save at most."""
        n, least = len(self.ops), {}
        self.behind, self.beyond, found, self.steps = [0] * (n + 1), [0] * (n + 1), [], 0
        runs = list(self.runs()) if self.nests else []

        def keep(run, tiles, excess):
            least[run[:2]] = excess
        for run in runs:
            self.halve(run, [(0, len(d) - 1) for d in run[5]], lambda: least.get(run[:2], 0), keep)
        for o in range(n):
            self.behind[o + 1] = min([self.behind[o]] + [self.behind[a] + least[a, b] for a, b in least if b == o])
        for o in reversed(range(n)):
            self.beyond[o] = min([self.beyond[o + 1]] + [self.beyond[b + 1] + least[a, b] for a, b in least if a == o])
        if self.bound + self.beyond[0] > top:
            return []
        for run in runs:
            limit = top + 1 - self.bound - self.behind[run[0]] - self.beyond[run[1] + 1]
            self.halve(run, [(0, len(d) - 1) for d in run[5]], lambda: limit,
                       lambda run, tiles, excess: found.append(self.nest(run, tiles, tiles, False)[0]))
        return found

    # The search: states after each op, each with the tensors on chip and its least cost.

    def rest(self, o, nest, chip):
        """The least priced cost of all uses from op `o` on."""
        total = -self.room * (self.sums[-1] - self.sums[o]) + self.beyond[nest[1] + 1 if nest else o]
        for tensor, u in self.nexts[o].items():
            place = chip.get(tensor, 0)
            inside = nest and u.op <= nest[1]
            total += (nest[3] if inside else self.ahead)[u.number][place]
            if place:
                total += self.bytes(u, nest, place) * (self.sums[u.op] - self.sums[o])
        return total

    def bytes(self, u, nest, place):
        return nest[2][u.number].holds[(place - 1) // 2][0] if nest and u.op <= nest[1] else u.size

    def step(self, o, nest, chip, idle, most):
        """All that may follow op `o`: (cost, chip, idle, most)."""
        uses = self.uses[self.at[o]:self.at[o + 1]]
        own = {u.tensor for u in uses}
        through = idle + sum(self.bytes(self.nexts[o][t], nest, p) for t, p in chip.items() if t not in own)
        base = {t: p for t, p in chip.items() if t not in own}
        lists = []
        for u in uses:
            y = nest[2][u.number] if nest else Plain(u)
            lists.append(self.ways(u, y, bool(nest and u.next and u.next.op <= nest[1]), chip.get(u.tensor, 0)))
        for ways in itertools.product(*lists):
            given = max((w[1] for u, w in zip(uses, ways) if u.gives and not w[2] and not w[4]), default=0)
            shared = max((min(given, w[1]) for u, w in zip(uses, ways) if u.takes and w[5]), default=0)
            load = through - shared + sum(w[1] for w in ways)
            now = max(load, most + sum(w[1] for w in ways if w[3] and w[4]))
            if now > self.room:
                continue
            after = dict(base)
            after.update((u.tensor, w[2]) for u, w in zip(uses, ways) if w[2])
            left = idle + sum(w[1] for w in ways if w[4] and not w[2])
            yield sum(w[0] for w in ways), after, left, now

    def walk(self, nests, top):
        """Is every way to an end above `top`?"""
        n = len(self.ops)
        self.nexts = [{} for _ in range(n + 1)]
        for o in reversed(range(n)):
            self.nexts[o] = {**self.nexts[o + 1], **{u.tensor: u for u in self.uses[self.at[o]:self.at[o + 1]]}}
        layer, self.states = {(-1, (), 0, 0): 0}, 0
        for o in range(n):
            after = {}
            for (number, places, idle, most), cost in layer.items():
                chip = dict(places)
                for i in [number] if number >= 0 else [-1] + [k for k, x in enumerate(nests) if x[0] == o]:
                    nest = nests[i] if i >= 0 else None
                    for more, then, left, now in self.step(o, nest, chip, idle, most):
                        ends = not nest or nest[1] == o
                        if (cost + more << BITS) + self.rest(o + 1, None if ends else nest, then) > top:
                            continue
                        key = (-1, tuple(sorted(then.items())), 0, 0) if ends else \
                              (i, tuple(sorted(then.items())), left, now)
                        after[key] = min(after.get(key, cost + more), cost + more)
            layer, self.states = after, self.states + len(after)
        return not layer

    def proves(self, prices, least):
        """Does every plan move `least` bytes or more?"""
        grain = math.gcd(*(u.whole for u in self.uses), *(a[7] for a in self.accesses))
        top = (least - 1) // grain * grain << BITS
        self.bound = self.set_prices(prices)
        return min(prices) >= 0 and self.walk(self.find_nests(top), top)
