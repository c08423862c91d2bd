"""Random joint problems in the stand-in's classes, what is legal of an answer, and the best answer by trying everything."""

import itertools
import random

import spyre_stub as stub
from spyre_stub import COPY, CoreDivision, CoreDivisionBuffer, RelayoutCandidate


def random_menu(draw, count):
    menu = []
    for _ in range(count):
        splits = {key: draw.choice([1, 2, 4]) for key in draw.sample(["c0", "c1", "c2"], draw.randrange(1, 3))}
        reduction = frozenset(k for k in splits if draw.random() < 0.2)
        menu.append(CoreDivision(splits, reduction))
    return menu


def random_buffers(draw, count, relayouts=False, menu=3):
    """A chain with branches; pairs come from labels, as equality of views gives them. Copies where views differ."""
    found, copies = [], {}
    for i in range(count):
        b = CoreDivisionBuffer(f"b{i}", draw.choice([256, 512, 1024]), [i, i + 1], core_divisions=random_menu(draw, draw.randrange(1, menu + 1)))
        for parent in found[-2:]:
            if draw.random() < 0.7:
                _read(draw, parent, b, i, relayouts, copies)
        found.append(b)
    for b in found:
        b.residency_reason = "op not allowed" if draw.random() < 0.1 else None
        b.boundary = draw.choice(list(stub.BufferType)) if draw.random() < 0.2 else stub.BufferType.Intermediate
    _in_place(draw, found)
    return found + list(copies.values())


def _read(draw, parent, b, tick, relayouts, copies):
    b.parents.append(parent.name)
    parent.uses = sorted(set(parent.uses) | {tick})
    own = [draw.randrange(2) for _ in parent.core_divisions]
    if draw.random() < 0.8:  # equal views are equal parts; now and then they are not
        own = [d.output_partition.bit_length() for d in parent.core_divisions]
    other = [draw.choice(own + [0]) for _ in b.core_divisions]
    cells = list(itertools.product(range(len(own)), range(len(other))))
    b.cd_parent_matches[parent.name] = [(i, j) for i, j in cells if own[i] == other[j]]
    if relayouts and draw.random() < 0.6:
        priced = [(i, j) for i, j in cells if own[i] != other[j] and draw.random() < 0.8]
        group = draw.randrange(2)
        b.cd_parent_relayouts[parent.name] = [
            RelayoutCandidate(parent.name, b.name, i, j, group, cost_ns=10.0 + i) for i, j in priced]
        if priced:
            name = f"{COPY}{parent.name}:g{group}"
            copy = copies.get(name)
            if copy is None:
                copy = copies[name] = stub.RelayoutCopyBuffer(name, 256, [tick], core_divisions=[CoreDivision({"c0": 2})])
            copy.uses = sorted(set(copy.uses) | {tick})


def _in_place(draw, found):
    by_name = {b.name: b for b in found}
    for b in found:
        for name in b.parents:
            parent = by_name[name]
            if parent.end_time == b.start_time + 1 and draw.random() < 0.6:
                b.in_place_parents.append(name)


def candidates(buffers):
    """Per copy: its source, and {(reader, source's division, reader's division): candidate}."""
    found = {}
    for b in buffers:
        for parent, listed in b.cd_parent_relayouts.items():
            for c in listed:
                found.setdefault(f"{COPY}{parent}:g{c.group}", (parent, {}))[1][b.name, c.source_division, c.consumer_division] = c
    return found


def division(b):
    return b.chosen_division or 0


def agrees(parent, reader, by_name, served):
    pair = (division(parent), division(reader))
    if pair in [tuple(p) for p in reader.cd_parent_matches.get(parent.name, ())]:
        return True
    for name, (source, cells) in served.items():
        if source == parent.name and by_name[name].address is not None and (reader.name, *pair) in cells:
            return True
    return False


def legal_residency(buffers, limit):
    by_name, served = {b.name: b for b in buffers}, {k: v for k, v in candidates(buffers).items() if k in {b.name for b in buffers}}
    for b in buffers:
        if b.address is None:
            continue
        if b.residency_reason is not None or b.footprint(division(b)) > limit:
            return False
        if b.name.startswith(COPY):
            source, cells = served.get(b.name, (None, {}))
            if source is None or by_name[source].address is None:
                return False
            if not any(i == division(by_name[source]) and j == division(by_name[r]) for r, i, j in cells):
                return False
            continue
        readers = [r for r in buffers if b.name in r.parents]
        if not readers or not all(agrees(b, r, by_name, served) for r in readers):
            return False
    return True


def merge(parent, child):
    pair = (division(parent), division(child))
    return (parent.footprint(pair[0]) == child.footprint(pair[1])
            and pair in [tuple(p) for p in child.cd_parent_matches.get(parent.name, ())])


def verify(buffers, limit, alignment=128):
    assert legal_residency(buffers, limit), "somebody on chip is not agreed upon"
    stub.verify(buffers, limit, alignment, lambda b: b.footprint(division(b)), merge)
    for b in buffers:
        assert b.chosen_division is not None and 0 <= b.chosen_division < len(b.core_divisions), b.name


def default_value(buffers):
    """Spill cost, cores that are idle, squares of split factors: less is better, in this order."""
    own = [b for b in buffers if not b.name.startswith(COPY)]
    lost = sum(stub.spill_cost(b) for b in own if b.address is None)
    cores = sum(b.core_divisions[division(b)].cores_used for b in buffers)
    squares = sum(f * f for b in buffers for f in b.core_divisions[division(b)].splits.values())
    return lost, -cores, squares


def packs(buffers, limit, alignment):
    """Is there an address for everybody whose address is not None? By trying."""
    here = [b for b in buffers if b.address is not None]
    slots = range(0, limit, alignment)

    def walk(k):
        if k == len(here):
            return True
        for at in slots:
            here[k].address = at
            if at + here[k].footprint(division(here[k])) <= limit and fits(here[: k + 1]) and walk(k + 1):
                return True
        return False

    def fits(some):
        try:
            stub.verify(some, limit, alignment, lambda b: b.footprint(division(b)), merge)
        except AssertionError as why:
            return not str(why)
        return True

    found = walk(0)
    for b in here:
        b.address = b.address if found else 0
    return found


def best(buffers, limit, value, copies=True, alignment=128):
    """The least value over all choices and bits, by trying."""
    least = None
    free = [b for b in buffers if b.residency_reason is None and (copies or not b.name.startswith(COPY))]
    for choice in itertools.product(*(range(len(b.core_divisions)) for b in buffers)):
        for b, x in zip(buffers, choice):
            b.chosen_division = x
        for bits in itertools.product((False, True), repeat=len(free)):
            for b in buffers:
                b.address = None
            for b, on in zip(free, bits):
                b.address = 0 if on else None
            if not legal_residency(buffers, limit):
                continue
            worth = value(buffers)
            if (least is None or worth < least) and packs(buffers, limit, alignment):
                least = worth
    for b in buffers:
        b.address = b.chosen_division = None
    return least
