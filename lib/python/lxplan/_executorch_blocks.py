"""What ExecuTorch's tensor specs ask of a memory plan: blocks, lives, banks, and the numbers of shared objects.

A block is a spec, or a spec with all that is computed in its place (`inplace_base`, in chains): one bank and one offset. Its
members must not be alive at once, but for a spec and its own base. A life [first, last] counts both ends; one that ends
before it begins overlaps nothing, as does storage of no bytes.
"""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple

from ._placement import Placement


class Block:
    """Specs at one place."""

    __slots__ = ("specs", "bank", "size", "lives", "pinned", "offset")

    def __init__(self, specs: List[Any]):
        self.specs = specs
        self.pinned = specs[0].mem_id is not None
        self.bank = specs[0].mem_id if self.pinned else 1
        self.size = max(s.allocated_memory for s in specs)
        self.lives = _joined((s.lifetime[0], s.lifetime[1] + 1) for s in specs if s.allocated_memory > 0)
        self.offset = 0
        if not isinstance(self.bank, int) or self.bank < 1:
            raise ValueError(f"a spec of the bank {self.bank}; bank 0 is for constants")


def _joined(lives: Iterable[Tuple[int, int]]) -> List[Tuple[int, int]]:
    joined: List[Tuple[int, int]] = []
    for start, end in sorted(life for life in lives if life[0] < life[1]):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def root_of(spec: Any, known: Dict[int, Any]) -> Any:
    seen = set()
    while getattr(spec, "inplace_base", None) is not None:
        if id(spec) in seen:
            raise ValueError("the bases of specs that are computed in place go in a circle")
        seen.add(id(spec))
        spec = spec.inplace_base
        if id(spec) not in known:
            raise ValueError("the base of a spec that is computed in place is not planned with it")
    return spec


def alive_at_once(a: Any, b: Any) -> bool:
    """Do their lives overlap, both ends included?"""
    first, last = max(a.lifetime[0], b.lifetime[0]), min(a.lifetime[1], b.lifetime[1])
    return first <= last and a.lifetime[0] <= a.lifetime[1] and b.lifetime[0] <= b.lifetime[1]


def _check_members(specs: List[Any]) -> None:
    for i, a in enumerate(specs):
        for b in specs[:i]:
            direct = getattr(a, "inplace_base", None) is b or getattr(b, "inplace_base", None) is a
            if not direct and a.allocated_memory and b.allocated_memory and alive_at_once(a, b):
                raise ValueError("two specs that are computed in one place are alive at once")


def blocks_of(specs: Iterable[Any]) -> List[Block]:
    """Blocks in an order that does not depend on where objects lie in memory."""
    listed = list(dict.fromkeys(specs))
    if not isinstance(specs, (list, tuple)):
        listed.sort(key=lambda s: (s.lifetime[0], s.lifetime[1], s.allocated_memory, s.mem_id or 0))
    known = {id(s): s for s in listed}
    groups: Dict[int, List[Any]] = {id(s): [s] for s in listed if getattr(s, "inplace_base", None) is None}
    for spec in listed:
        root = root_of(spec, known)
        if spec is not root:
            groups[id(root)].append(spec)
    for members in groups.values():
        _check_members(members)
    return _from_zero([Block(members) for members in groups.values()])


def _from_zero(blocks: List[Block]) -> List[Block]:
    """Ticks below 0 are moved up, with all others: a placement counts from there."""
    low = min((start for b in blocks for start, _ in b.lives), default=0)
    if low < 0:
        for b in blocks:
            b.lives = [(start - low, end - low) for start, end in b.lives]
    return blocks


def input_bytes(graph_module: Any, bank: int) -> int:
    """Bytes of nested graphs at the bottom of a bank."""
    sizes = getattr(graph_module, "input_mem_buffer_sizes", None)
    return sizes[bank] if isinstance(sizes, (list, tuple)) and bank < len(sizes) else 0


def add_block(problem: Placement, block: Block, number: int, off: Optional[int] = None) -> int:
    """The block as a buffer of a problem."""
    start, end = block.lives[0]
    at = problem.buffer(f"#{number}", block.size, start, end, off)
    for start, end in block.lives[1:]:
        problem.live(at, start, end)
    return at


def pack(blocks: Sequence[Block], alignment: int, floor: int, capacity: Optional[int], options: Any) -> int:
    """Gives the blocks of one bank offsets from `floor` up, in the least bytes, and returns where they end."""
    alive = [b for b in blocks if b.lives]
    shift = floor % alignment
    ways = [0, shift] if shift else [0]  # above an odd floor: at true multiples, or counted from the floor as greedy does
    best: Optional[Tuple[int, List[int]]] = None
    for odd in ways:
        room = None if capacity is None else capacity - odd
        top, offsets = _packed(alive, alignment, floor - odd, room, options)
        if best is None or top + odd < best[0]:
            best = top + odd, [at + odd for at in offsets]
    assert best is not None
    for block, at in zip(alive, best[1]):
        block.offset = at
    for block in blocks:
        if not block.lives:
            lowest = -(-floor // alignment) * alignment
            block.offset = floor if shift and lowest + block.size > best[0] else lowest
    return max([best[0]] + [b.offset + b.size for b in blocks])


def _packed(alive: Sequence[Block], alignment: int, floor: int, capacity: Optional[int],
            options: Any) -> Tuple[int, List[int]]:
    if not alive:
        return floor, []
    with Placement("height", alignment) as problem:
        pool = problem.pool("bank", capacity)
        if floor:
            problem.reserve(pool, 0, floor)
        for number, block in enumerate(alive):
            add_block(problem, block, number)
        with problem.solve(options) as answer:
            offsets = [at for at in answer.addresses if at is not None]
    if len(offsets) != len(alive):
        raise ValueError("not every block has a place")
    return max(at + b.size for at, b in zip(offsets, alive)), offsets


def object_ids(blocks: Sequence[Block]) -> Dict[int, int]:
    """Per block (by id) the number of its shared object: what shares bytes, directly or by way of others, is one object."""
    numbers: Dict[int, int] = {}
    top, number = -1, -1
    for block in sorted((b for b in blocks if b.size), key=lambda b: (b.offset, b.offset + b.size)):
        if number < 0 or block.offset >= top:
            number += 1
        numbers[id(block)] = number
        top = max(top, block.offset + block.size)
    for block in blocks:
        if not block.size:
            number += 1
            numbers[id(block)] = number
    return numbers
