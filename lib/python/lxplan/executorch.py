"""lxplan as a memory planning algorithm of ExecuTorch.

    from executorch.exir.memory_planning import MemoryPlanningAlgorithmSuite, greedy
    from lxplan.executorch import lxplan
    MemoryPlanningPass(memory_planning_algo=MemoryPlanningAlgorithmSuite([greedy, lxplan]))

`lxplan` packs each bank into the least bytes, never more than greedily. Whatever goes wrong inside it, it answers with
ExecuTorch's greedy (or, where that is not installed, with one place a tensor): an exception of ours must not end an export.
Only specs that have no place at all (their bases go in a circle, or are not planned) are a ValueError where greedy has no
answer either. `banked(memory_map)` makes an algorithm for banks with capacities, which does end the export where a tensor
fits nowhere: no plan could be loaded.
"""

from __future__ import annotations

import logging
from typing import Any, Callable, Collection, Dict, Iterable, List, Tuple

from . import _executorch_blocks as _blocks
from ._executorch_blocks import Block
from ._executorch_greedy import improve
from ._native import LxplanError
from ._placement import Placement
from ._spyre_buffers import options_of

__all__ = ["MemoryAlgoResult", "SpecAllocResult", "banked", "lxplan"]

log = logging.getLogger(__name__)


class _SpecAllocResult:
    """Where a spec is."""

    def __init__(self, mem_id: int, mem_obj_id: int, mem_offset: int):
        self.mem_id, self.mem_obj_id, self.mem_offset = mem_id, mem_obj_id, mem_offset


class _MemoryAlgoResult:
    """Where all specs are, and how large the banks."""

    def __init__(self, spec_dict: Dict[Any, Any], bufsizes: List[int]):
        self.spec_dict, self.bufsizes = spec_dict, bufsizes


def _theirs(name: str, own: Any) -> Any:
    try:
        from executorch.exir import memory_planning
    except Exception:  # not installed, or broken for reasons of its own
        return own
    return getattr(memory_planning, name, own)


SpecAllocResult = _theirs("SpecAllocResult", _SpecAllocResult)
MemoryAlgoResult = _theirs("MemoryAlgoResult", _MemoryAlgoResult)


def lxplan(alignment: int, specs: Iterable[Any], graph_module: Any, graph_signature: Any, extra_padding: int = 0) -> Any:
    """An algorithm for MemoryPlanningAlgorithmSuite: each bank in the least bytes."""
    specs = _again(specs)
    try:
        return _planned(alignment, specs, graph_module, extra_padding)
    except Exception as why:
        log.warning("lxplan: %s; planning greedily instead", why)
        return _fallback(alignment, specs, graph_module, graph_signature, extra_padding)


def banked(memory_map: Iterable[Any]) -> Callable[..., Any]:
    """An algorithm for a TargetMemoryMap: banks with byte capacities, fastest first. A spec goes into the fastest bank with
    room for it, so that the bytes in slower ones are least; `mem_id` pins it to its bank, and one that is not in the map is
    planned as without a map. The map: their object, or pairs (mem_id, capacity). ValueError where something fits nowhere."""
    banks = _banks(memory_map)

    def lxplan_banked(alignment: int, specs: Iterable[Any], graph_module: Any, graph_signature: Any,
                      extra_padding: int = 0) -> Any:
        blocks = _aligned_blocks(alignment, _again(specs))
        try:
            _choose_banks(blocks, banks, alignment, graph_module, extra_padding)
            return _result(blocks, alignment, graph_module, extra_padding, banks)
        except (LxplanError, OverflowError) as why:
            raise ValueError(f"no plan for the banks {banks}: {why}") from why

    return lxplan_banked


def _again(specs: Iterable[Any]) -> Iterable[Any]:
    """Specs that can be gone through more than once; a generator's in a collection without an order, as a set is."""
    return specs if isinstance(specs, Collection) else dict.fromkeys(specs)


def _aligned_blocks(alignment: int, specs: Iterable[Any]) -> List[Block]:
    for spec in specs:
        spec.realign(alignment)
    return _blocks.blocks_of(specs)


def _planned(alignment: int, specs: Iterable[Any], graph_module: Any, extra_padding: int) -> Any:
    return _result(_aligned_blocks(alignment, specs), alignment, graph_module, extra_padding, {})


def _result(blocks: List[Block], alignment: int, graph_module: Any, extra_padding: int, banks: Dict[int, int]) -> Any:
    sizes = [0] * max(2, 1 + max((b.bank for b in blocks), default=1))
    places: Dict[Any, Any] = {}
    for bank in sorted({b.bank for b in blocks}):
        members = [b for b in blocks if b.bank == bank]
        room = banks[bank] - extra_padding if bank in banks else None
        floor = _blocks.input_bytes(graph_module, bank)
        top = _blocks.pack(members, alignment, floor, room, options_of(None))
        sizes[bank] = improve(members, floor, top) + extra_padding
        if bank in banks and sizes[bank] > banks[bank]:
            raise ValueError(f"bank {bank} needs {sizes[bank]} bytes, more than the {banks[bank]} of the memory map")
        numbers = _blocks.object_ids(members)
        for block in members:
            for spec in block.specs:
                places[spec] = SpecAllocResult(bank, numbers[id(block)], block.offset)
    return MemoryAlgoResult(places, sizes)


# Banks with capacities.


def _banks(memory_map: Any) -> Dict[int, int]:
    """Capacities by bank, fastest first, of whatever describes them."""
    listed = getattr(memory_map, "banks", memory_map)
    if isinstance(listed, dict):
        listed = list(listed.items())
    banks: Dict[int, int] = {}
    for number, one in enumerate(listed, 1):
        bank, capacity = _bank(number, one)
        if bank in banks:
            raise ValueError(f"bank {bank} is in the memory map twice, with {banks[bank]} and {capacity} bytes")
        banks[bank] = capacity
    if not banks or any(bank < 1 for bank in banks):
        raise ValueError("a memory map has banks from 1 on, with capacities")
    return banks


def _bank(number: int, one: Any) -> Tuple[int, int]:
    if isinstance(one, (tuple, list)):
        return int(one[0]), int(one[1])
    bank = next((getattr(one, n) for n in ("mem_id", "bank_id", "id") if hasattr(one, n)), number)
    for name in ("capacity", "capacity_bytes", "size", "size_bytes", "bytes"):
        if hasattr(one, name):
            return int(bank), int(getattr(one, name))
    raise ValueError(f"bank {bank} of the memory map has no capacity")


def _choose_banks(blocks: List[Block], banks: Dict[int, int], alignment: int, graph_module: Any, padding: int) -> None:
    order = list(banks)
    chosen = [b for b in blocks if b.lives and (not b.pinned or b.bank in banks)]
    for block in blocks:
        if not block.pinned and not block.lives:
            block.bank = _with_room(block, banks, graph_module, padding)
    if not chosen:
        return
    with Placement("cost", alignment) as problem:
        for bank in order:
            pool = problem.pool(f"bank {bank}", max(0, banks[bank] - padding))
            floor = _blocks.input_bytes(graph_module, bank)
            if floor:
                problem.reserve(pool, 0, floor)
        for number, block in enumerate(chosen):
            at = _blocks.add_block(problem, block, number)
            for k, bank in enumerate(order):
                if not block.pinned or block.bank == bank:
                    problem.allow(at, k, 0 if block.pinned else k * block.size)
        with problem.solve(options_of(None)) as answer:
            pools = answer.pools
    for block, pool in zip(chosen, pools):
        if pool is None:
            raise ValueError(f"a tensor of {block.size} bytes fits into none of the banks {banks}")
        block.bank = order[pool]


def _with_room(block: Block, banks: Dict[int, int], graph_module: Any, padding: int) -> int:
    """The fastest bank for what lives on no tick: it shares bytes with everybody, but they must be there."""
    for bank, capacity in banks.items():
        if _blocks.input_bytes(graph_module, bank) + block.size + padding <= capacity:
            return bank
    raise ValueError(f"a tensor of {block.size} bytes fits into none of the banks {banks}")


# When ours fails.


def _fallback(alignment: int, specs: Iterable[Any], graph_module: Any, graph_signature: Any, extra_padding: int) -> Any:
    greedy = _theirs("greedy", None)
    if greedy is not None:
        try:
            return greedy(alignment, specs, graph_module, graph_signature, extra_padding)
        except Exception as why:
            log.warning("lxplan: greedy failed too (%s); no memory is shared", why)
    return _unshared(alignment, specs, graph_module, extra_padding)


def _unshared(alignment: int, specs: Iterable[Any], graph_module: Any, extra_padding: int) -> Any:
    """A place of its own for every spec, but at its base where it is computed in place."""
    listed = list(dict.fromkeys(specs))
    known = {id(s): s for s in listed}
    roots = [_blocks.root_of(spec, known) for spec in listed]
    needed: Dict[Any, int] = {}
    for spec, root in zip(listed, roots):
        spec.realign(alignment)
        needed[root] = max(needed.get(root, 0), spec.allocated_memory)
    tops: Dict[int, int] = {}
    counts: Dict[int, int] = {}
    places: Dict[Any, Any] = {}
    for root, size in needed.items():
        bank = 1 if root.mem_id is None else root.mem_id
        floor = _blocks.input_bytes(graph_module, bank)
        at = tops.get(bank, -(-floor // alignment) * alignment)
        places[root] = SpecAllocResult(bank, counts.get(bank, 0), at)
        tops[bank], counts[bank] = at + size, counts.get(bank, 0) + 1
    sizes = [0] * max(2, 1 + max(tops, default=1))
    for bank, top in tops.items():
        sizes[bank] = top + extra_padding
    return MemoryAlgoResult({spec: places[root] for spec, root in zip(listed, roots)}, sizes)
