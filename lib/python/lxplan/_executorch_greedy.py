"""The greedy plan of a bank as ExecuTorch describes it, beside ours: whoever adds us must never get more bytes.

Largest first, into the first shared object without an overlapping life, else above the overlapping ones of the first object
where it fits, else into a new object. What is computed in place is attached to its base afterwards and its life is not
looked at, so that the plan may be illegal; where it is not, it may need less than blocks do, which keep their largest size
for the whole of their life.
"""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

from ._executorch_blocks import Block, alive_at_once

Member = Tuple[int, Any]  # from the beginning of the object, and who


class _Shared:
    """An object: who lies where in it."""

    __slots__ = ("size", "members", "blocks")

    def __init__(self) -> None:
        self.size = 0
        self.members: List[Member] = []
        self.blocks: List[Tuple[int, Block]] = []

    def is_free(self, spec: Any) -> bool:
        return not any(alive_at_once(spec, other) for _, other in self.members)

    def above(self, spec: Any) -> Optional[int]:
        """Where it lies above all that are alive with it, if that is inside."""
        at = max((o + s.allocated_memory for o, s in self.members if alive_at_once(spec, s)), default=0)
        return at if at + spec.allocated_memory <= self.size else None

    def take(self, at: int, block: Block) -> None:
        base = block.specs[0]
        self.members.append((at, base))
        self.blocks.append((at, block))
        self.size = max(self.size, at + base.allocated_memory)


def _put(block: Block, objects: List[_Shared]) -> None:
    base = block.specs[0]
    for one in objects:
        if one.is_free(base):
            return one.take(0, block)
    for one in objects:
        at = one.above(base)
        if at is not None:
            return one.take(at, block)
    objects.append(_Shared())
    return objects[-1].take(0, block)


def _offsets(blocks: Sequence[Block], floor: int) -> Tuple[int, List[int]]:
    """Where the bank ends, and the offset of every block."""
    objects: List[_Shared] = []
    for block in sorted(blocks, key=lambda b: -b.specs[0].allocated_memory):
        _put(block, objects)
    found = {}
    for one in objects:
        for at, block in one.blocks:
            found[id(block)] = floor + at
        floor += max([one.size] + [at + block.size for at, block in one.blocks])
    return floor, [found[id(block)] for block in blocks]


def _is_legal(blocks: Sequence[Block], offsets: Sequence[int]) -> bool:
    """Nobody shares bytes with another that is alive, but a spec with its own base."""
    places = sorted(((at, k, s) for k, (b, at) in enumerate(zip(blocks, offsets)) for s in b.specs if s.allocated_memory),
                    key=lambda place: place[:2])
    below: List[Tuple[int, Any]] = []
    for at, _, spec in places:
        below = [other for other in below if other[0] + other[1].allocated_memory > at]
        for _, other in below:
            direct = getattr(spec, "inplace_base", None) is other or getattr(other, "inplace_base", None) is spec
            if not direct and alive_at_once(spec, other):
                return False
        below.append((at, spec))
    return True


def least_bytes(blocks: Sequence[Block]) -> int:
    """No plan of these is smaller: the largest spec of every block, added up where they are alive at once."""
    changes: List[Tuple[int, int]] = []
    for block in blocks:
        largest = max(block.specs, key=lambda s: s.allocated_memory)
        first, last = largest.lifetime
        if first <= last:
            changes += [(first, largest.allocated_memory), (last + 1, -largest.allocated_memory)]
    now, most = 0, max((b.size for b in blocks), default=0)
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most


def improve(blocks: Sequence[Block], floor: int, top: int) -> int:
    """Gives the blocks, which end at `top`, their greedy offsets where that is legal and ends lower. Where they end."""
    if top <= floor + least_bytes(blocks):
        return top
    lower, offsets = _offsets(blocks, floor)
    if lower >= top or not _is_legal(blocks, offsets):
        return top
    for block, at in zip(blocks, offsets):
        block.offset = at
    return lower
