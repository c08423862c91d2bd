"""Stand-ins of what ExecuTorch's memory planning hands to an algorithm, written from a description of it: specs, the greedy
algorithm, the suite that compares algorithms, and the verifier."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Dict, List, Optional


class TensorSpec:
    def __init__(self, nbytes, lifetime, mem_id=None, inplace_base=None):
        self.nbytes, self.lifetime, self.mem_id, self.inplace_base = nbytes, list(lifetime), mem_id, inplace_base
        self.alignment = 1
        self.mem_offset: Optional[int] = None
        self.mem_obj_id: Optional[int] = None

    @property
    def allocated_memory(self):
        return -(-self.nbytes // self.alignment) * self.alignment

    def realign(self, alignment):
        self.alignment = alignment
        return self.allocated_memory


@dataclass
class SpecAllocResult:
    mem_id: int
    mem_obj_id: int
    mem_offset: int


@dataclass
class MemoryAlgoResult:
    spec_dict: Dict[Any, SpecAllocResult] = field(default_factory=dict)
    bufsizes: List[int] = field(default_factory=list)


def graph(sizes=None):
    return SimpleNamespace() if sizes is None else SimpleNamespace(input_mem_buffer_sizes=sizes)


def lives_overlap(a, b):
    if a.lifetime[0] > a.lifetime[1] or b.lifetime[0] > b.lifetime[1]:
        return False
    return a.lifetime[0] <= b.lifetime[1] and b.lifetime[0] <= a.lifetime[1]


class _Shared:
    """An object of greedy: what lies where in it, from its own beginning."""

    def __init__(self):
        self.size, self.members = 0, []

    def place(self, spec):
        """At its beginning if no life overlaps, else above those that do, if that is inside; None: neither."""
        clashing = [(o, s) for o, s in self.members if lives_overlap(spec, s)]
        at = max((o + s.allocated_memory for o, s in clashing), default=0)
        return at if not clashing or at + spec.allocated_memory <= self.size else None


def greedy(alignment, specs, graph_module, graph_signature, extra_padding=0):
    """Largest first: into the first object without an overlapping life, else above the overlapping ones of the first object
    where it fits, else into a new object; what is computed in place is attached afterwards, its life not looked at."""
    banks, places = {}, {}
    for spec in specs:
        spec.realign(alignment)
    listed = sorted((s for s in specs if s.inplace_base is None), key=lambda s: -s.allocated_memory)
    for spec in listed:
        bank = 1 if spec.mem_id is None else spec.mem_id
        objects = banks.setdefault(bank, [])
        empty = [k for k, o in enumerate(objects) if not any(lives_overlap(spec, s) for _, s in o.members)]
        fits = [k for k, o in enumerate(objects) if o.place(spec) is not None]
        k = (empty or fits or [len(objects)])[0]
        if k == len(objects):
            objects.append(_Shared())
        at = objects[k].place(spec)
        if at is None:
            at = 0
        objects[k].members.append((at, spec))
        objects[k].size = max(objects[k].size, at + spec.allocated_memory)
        places[spec] = (bank, k, at)
    for spec in specs:
        if spec.inplace_base is not None:
            base = spec
            while base.inplace_base is not None:
                base = base.inplace_base
            bank, k, at = places[base]
            places[spec] = (bank, k, at)
            banks[bank][k].size = max(banks[bank][k].size, at + spec.allocated_memory)
    return _finished(banks, places, graph_module, extra_padding)


def _finished(banks, places, graph_module, extra_padding):
    given = getattr(graph_module, "input_mem_buffer_sizes", None)
    sizes, starts = [0] * max(2, 1 + max(banks, default=1)), {}
    for bank, objects in banks.items():
        at = given[bank] if isinstance(given, list) and bank < len(given) else 0
        for k, one in enumerate(objects):
            starts[bank, k] = at
            at += one.size
        sizes[bank] = at + extra_padding
    found = {s: SpecAllocResult(bank, k, starts[bank, k] + at) for s, (bank, k, at) in places.items()}
    return MemoryAlgoResult(found, sizes)


def verify(result, specs, graph_module, extra_padding=0):
    """What the verifier demands, pair by pair; an AssertionError says what is broken."""
    given = getattr(graph_module, "input_mem_buffer_sizes", None)
    listed = list(specs)
    assert set(map(id, result.spec_dict)) == set(map(id, listed)), "not every spec, or others"
    assert result.bufsizes[0] == 0
    used = {result.spec_dict[s].mem_id for s in listed}
    assert len(result.bufsizes) == max(2, 1 + max(used, default=1))
    for s in listed:
        r = result.spec_dict[s]
        assert r.mem_id == (1 if s.mem_id is None else s.mem_id) or s.inplace_base is not None or r.mem_id > 0
        floor = given[r.mem_id] if isinstance(given, list) and r.mem_id < len(given) else 0
        assert r.mem_offset >= floor, "below the bytes of nested graphs"
        assert r.mem_offset + s.allocated_memory + extra_padding <= result.bufsizes[r.mem_id], "above the bank"
        if s.inplace_base is not None:
            base = result.spec_dict[s.inplace_base]
            assert (r.mem_id, r.mem_offset) == (base.mem_id, base.mem_offset), "not at its base"
    for i, a in enumerate(listed):
        for b in listed[:i]:
            _verify_pair(a, result.spec_dict[a], b, result.spec_dict[b])


def _verify_pair(a, at, b, bt):
    if at.mem_id != bt.mem_id or not a.allocated_memory or not b.allocated_memory:
        return
    if at.mem_offset >= bt.mem_offset + b.allocated_memory or bt.mem_offset >= at.mem_offset + a.allocated_memory:
        return
    assert at.mem_obj_id == bt.mem_obj_id, "shared bytes, different objects"
    direct = a.inplace_base is b or b.inplace_base is a
    assert direct or not lives_overlap(a, b), "shared bytes, both alive"


def suite(algorithms, alignment, specs, graph_module, extra_padding=0):
    """Every algorithm with the same arguments; the least sum wins and is written into the specs."""
    results = {}
    for algorithm in algorithms:
        name = getattr(algorithm, "__name__", None) or algorithm.func.__name__
        results[name] = algorithm(alignment, specs, graph_module, None, extra_padding)
    assert len({len(r.bufsizes) for r in results.values()}) == 1, "different numbers of sizes"
    name = min(results, key=lambda n: sum(results[n].bufsizes))
    for spec, r in results[name].spec_dict.items():
        spec.mem_id, spec.mem_offset, spec.mem_obj_id = r.mem_id, r.mem_offset, r.mem_obj_id
    return name, results
