/* Fields of a plan file, format 2: one row each. The rows make the structs below, write and read the file
 * (base/json/record.h), and are the documentation: lib/plan-format.md holds them as tables, and a test
 * compares them. STANDING says whether the checker verifies a field; test_changed_plans changes every
 * verified field.
 *
 * A row is F(KIND, key, NEED, STANDING, width, absent, help). Numbers of tensors, ops and buffers are their
 * indices in `tensors`, `ops` and `buffers` of the file; an op's number is its tick. */
#pragma once

#include "base/json/record.h"

// clang-format off
/* Decisions, needed or optional. Absent means: text, lists and switches none; numbers -1. */
#define STATED(F, KIND, key, help)     F(KIND, key, NEEDED, STATED, 0, 0, help)
#define MAY(F, KIND, key, help)        F(KIND, key, OPTIONAL, STATED, 0, -1, help)
/* Figures that follow from the rest of the file: the checker computes them and refuses a plan with others. */
#define CHECKED(F, KIND, key, help)    F(KIND, key, OPTIONAL, CHECKED, 0, -1, help)
/* Statements of the planner on which nothing depends. */
#define CLAIMED(F, KIND, key, help)    F(KIND, key, OPTIONAL, CLAIMED, 0, -1, help)
/* Arrays of rows of `width` integers. */
#define ROWS(F, key, width, help)      F(ROWS, key, OPTIONAL, STATED, width, 0, help)
#define CLAIMED_ROWS(F, key, width, help) F(ROWS, key, OPTIONAL, CLAIMED, width, 0, help)

#define PLAN_ROOT_FIELDS(F) \
    CLAIMED(F, TEXT, status, "what the solver says: optimal, feasible, limit, infeasible or error; absent: feasible") \
    MAY(F, TEXT, objective, "what is to be least: spill, time, balanced, fit or height; absent: spill") \
    CHECKED(F, INT, hbm_bytes, "HBM traffic of the plan: operands off chip, loads and stores") \
    CHECKED(F, INT, baseline_hbm_bytes, "the same with everything off chip") \
    CHECKED(F, INT, spill_bytes, "hbm_bytes less perfect_hbm_bytes") \
    CHECKED(F, INT, height_bytes, "the highest end of a placed buffer") \
    CLAIMED(F, INT, bound_bytes, "no plan with these divisions and passes has less spill (height); never above the plan's own; absent: 0, or the plan's own if optimal") \
    CHECKED(F, REAL, gap, "how far hbm_bytes may be above the least, perfect_hbm_bytes + bound_bytes, as a share of that; or the height or the end-to-end time above its bound; 0: proved to be the least; absent: nothing above 0 is proved") \
    CHECKED(F, INT, target_hbm_bytes, "what the pattern asks for") \
    CHECKED(F, BOOL, meets_target, "is hbm_bytes at most that") \
    CHECKED(F, INT, capacity, "bytes of one core's scratchpad that may be used") \
    CHECKED(F, INT, alignment, "addresses are multiples of it") \
    CHECKED(F, TEXT, pattern_hash, "of the pattern below, so that a changed one is noticed")

#define PLAN_SOLVER_FIELDS(F) \
    STATED(F, TEXT, name, "who placed the buffers") \
    STATED(F, INT, seed, "of its random numbers") \
    STATED(F, INT, work_limit, "steps it was allowed; 0: no limit") \
    STATED(F, TEXT, options, "its options that are not at their defaults: name=value ...") \
    STATED(F, INT, steps, "steps it took") \
    STATED(F, TEXT, message, "its own words, or none")

#define PLAN_GRAPH_FIELDS(F) \
    STATED(F, INT, cores, "cores that ops may be divided over") \
    CLAIMED_ROWS(F, cuts, 2, "[tensor, op]: decided that a stay of the tensor ends before that op and another begins") \
    CLAIMED_ROWS(F, moves, 2, "[tensor, op]: decided that the tensor goes on at another address before that op") \
    CLAIMED_ROWS(F, loaded, 2, "[tensor, op]: decided that the stay of the tensor that begins with that op is filled from HBM, not over the ring from another") \
    MAY(F, TEXT, tile_order, "asked for: the order of tiles in global launches: a word or @FILE; absent: row_major") \
    MAY(F, TEXT, tile_share, "asked for: chunks; absent: balanced") \
    MAY(F, TEXT, tile_assign, "asked for: dynamic; absent: static") \
    MAY(F, INTS, tile_sides, "asked for: rows and columns of a tile, and of tiles inside it; absent: the device's") \
    CLAIMED(F, INT, perfect_hbm_bytes, "HBM traffic in scratchpads without limit; absent: hbm_bytes less spill_bytes") \
    CHECKED(F, INT, ring_bytes, "bytes that cross the data ring") \
    ROWS(F, syncs, 2, "[op, 1 inside a nest or 0]: before that op all cores of the bundle wait for each other, inside a nest in each of its iterations; in order of time; absent: the least that the plan needs") \
    CHECKED(F, INT, sync_times, "how often that is, in all iterations") \
    CHECKED(F, REAL, device_us, "predicted: the device at work, microseconds; the sum of the bundles") \
    CHECKED(F, REAL, end_to_end_us, "predicted: launches and all, the sum of the bundles") \
    CLAIMED(F, REAL, bound_us, "no plan takes less from end to end; there where the objective is time or balanced") \
    CLAIMED(F, INTS, imported, "of a model: ops in use, ops mapped, copies, their bytes, bytes that the file must move") \
    MAY(F, INT, pool_at, "where the HBM segment of off-chip intermediates begins") \
    CHECKED(F, INT, pool_bytes, "its size") \
    CHECKED(F, INT, segment_bytes, "all of HBM that the plan uses")

#define PLAN_TENSOR_FIELDS(F) \
    STATED(F, TEXT, name, "as in the pattern, or of a copy that layout added") \
    MAY(F, TEXT, of, "of such a copy: the pattern's tensor that it holds the values of") \
    MAY(F, INTS, order, "of the layout: host dimensions, the one that sticks run along last (-1: one element per stick; -2 behind it: row by row); absent: known by its bytes only") \
    MAY(F, INTS, extents, "of a padded layout: positions of each host dimension") \
    MAY(F, INT, hbm, "its address in HBM; absent: never there")

#define PLAN_OP_FIELDS(F) \
    STATED(F, TEXT, name, "as in the pattern, or of a restickify that layout added; ops stand in the order in which they run") \
    MAY(F, BOOL, added, "such a restickify") \
    MAY(F, INTS, inputs, "numbers of the tensors it reads") \
    STATED(F, INT, output, "number of the tensor it writes; of several the first") \
    MAY(F, INTS, further_outputs, "of an op with several results: the numbers of the others that it writes, in the order of the pattern; absent: none") \
    MAY(F, INT, stick_var, "the variable its sticks run along; absent: none") \
    ROWS(F, output_splits, 2, "[coefficient, slices]: the variable whose step moves so many elements in the output is cut into so many slices") \
    ROWS(F, reduction_splits, 2, "the same for variables that are summed, by their coefficient in the first input that has them") \
    MAY(F, INT, front, "coefficient in the output of the variable whose slices are on neighbouring cores; absent: the sum that is split, or the first variable that is") \
    CHECKED(F, INT, cores, "cores that work on it: the product of the slices") \
    ROWS(F, accesses, 4, "per operand, inputs in order, then what is written: [buffer that serves it or -1, reads, writes, HBM bytes if it is off chip]") \
    CHECKED(F, INT, hbm_read, "bytes it reads from HBM, loads of its tick included") \
    CHECKED(F, INT, hbm_written, "bytes it writes to HBM, stores of its tick included") \
    CHECKED(F, INT, ring, "bytes of relayouts of its tick") \
    CHECKED(F, INT, reduce_ring, "bytes on the reduce ring: in each group of cores that makes one sum all parts but one, and as many again where the sum stays on chip: each core gets the total back") \
    CHECKED(F, INT, lx_read, "bytes it reads from scratchpads: the sticks that each core touches, once per access; and what moves of its tick copy") \
    CHECKED(F, INT, lx_written, "bytes it writes to scratchpads, likewise") \
    CLAIMED(F, REAL, device_us, "predicted: the device at work, copies of its tick included") \
    CLAIMED(F, REAL, end_to_end_us, "predicted: its share of its bundle, by device time")

#define PLAN_NEST_FIELDS(F) \
    STATED(F, INT, first, "the first op of a run that is walked once per iteration") \
    STATED(F, INT, last, "the last") \
    STATED(F, INTS, tiles, "of each level, outermost first: into how many its axis is cut; one to three levels") \
    STATED(F, INTS, vars, "op by op, level by level: the variable of the op that is the axis, as stick_var counts them")

#define PLAN_BUNDLE_FIELDS(F) \
    STATED(F, INT, first, "number of its first op; it ends before the next one's. An extern op is a bundle of its own. The scratchpads are wiped before each") \
    MAY(F, BOOL, non_terminal, "no context switch before the next bundle: the scratchpads are not wiped; where the device's lx_survives is 1") \
    CHECKED(F, INT, tensors, "that its ops have in HBM: read, written, loaded or stored there, each once; at most the device's bundle_tensors where it has several ops") \
    CHECKED(F, INT, operands, "that go through HBM: accesses off chip, loads and stores, each one") \
    CHECKED(F, INT, cores, "of the op with most") \
    CHECKED(F, REAL, device_us, "predicted: the device at work, the sum of its ops") \
    CHECKED(F, REAL, end_to_end_us, "predicted: with its launch; the sum of the shares of its ops")

#define PLAN_LAUNCH_FIELDS(F) \
    STATED(F, INT, op, "number of the op") \
    STATED(F, TEXT, kind, "tiles, whole (one core, one piece), none (it runs off the device) or refused (the device cannot launch it)") \
    CLAIMED(F, TEXT, why, "of a kind other than tiles") \
    MAY(F, TEXT, mode, "global or local_shard") \
    MAY(F, TEXT, order, "of the tiles: row_major, column_major, block, morton or listed; of local_shard: match_shard") \
    ROWS(F, dims, 4, "per output dimension, in elements: [extent, side of a tile, parts, length of a part]; of global: 1 part") \
    MAY(F, INTS, inner, "of two levels: per output dimension the side of the tiles inside a tile, which a core goes over one by one") \
    ROWS(F, sums, 3, "per summed variable, in elements: [extent, parts, length of a part]") \
    MAY(F, INT, k_tile, "elements of a sum that Kt counts as one: columns of the device's tile") \
    MAY(F, INTS, blocks, "of order block: rows and columns of blocks; the tiles of a block are numbered before those of the next") \
    MAY(F, INTS, tiles, "of order listed: row-major numbers of all tiles, in the order that first tile and tiles of the cores count") \
    MAY(F, INTS, core_grid, "[y, x] of the device") \
    ROWS(F, cores, 8, "per core: its number, y, x, first tile, tiles, sy, sx, slice of the sum")

#define PLAN_BUFFER_FIELDS(F) \
    CHECKED(F, TEXT, name, "that of its tensor; of further ones of the tensor with #2, #3, ... behind it") \
    STATED(F, INT, size, "bytes on each core: its largest part") \
    STATED(F, INT, start, "first tick of its life: the first at which anybody needs it") \
    STATED(F, INT, end, "the tick after its last: the last access or copy, or end of a nest that it is held for") \
    CHECKED(F, INT, cost, "HBM bytes that it costs to leave it off chip: its accesses, less the load and stores that it would need in any case; absent: not told") \
    MAY(F, INT, address, "on every core; absent: off chip") \
    MAY(F, INT, pool, "number of its pool, in plans of lists with several; absent: the first") \
    MAY(F, INT, in_place_of, "number of the buffer whose place it takes over") \
    CHECKED(F, INTS, parents, "numbers of buffers whose place it may take over") \
    MAY(F, INT, tensor, "number of its tensor; absent in plans of bare lists, as are the next nine") \
    CHECKED(F, INT, first, "the first op that it serves") \
    CHECKED(F, INT, last, "the last") \
    MAY(F, INT, view_op, "it is cut over the cores as this op; absent: as the first that it serves") \
    MAY(F, INT, view_operand, "sees this operand") \
    F(INT, hold, OPTIONAL, STATED, 0, 0, "in a nest: it has the slice that the levels up to this one fix, and is filled anew when one of these goes on; absent: the whole tensor") \
    F(INT, stages, OPTIONAL, STATED, 0, 1, "of a slice that is loaded: its slots, 2 or 3, one behind the other in `size`, filled in turn; the next slices are on their way while the nest works on one; absent: one") \
    CHECKED(F, INT, ring_source, "the stay that it is filled from over the data ring") \
    CHECKED(F, INT, moved_from, "the stay that it goes on from at another address") \
    CHECKED(F, BOOL, begins_written, "its first access writes all of it") \
    CLAIMED(F, TEXT, bar, "why it may not be on chip, in a word") \
    CLAIMED(F, TEXT, reason, "why it is not, in words")

#define PLAN_TRANSFER_FIELDS(F) \
    STATED(F, TEXT, kind, "load, store, ring or move") \
    STATED(F, INT, tick, "before its op; a store: after it") \
    MAY(F, INT, issue, "of a load: it may begin beside the op of this tick, after the copies there; it has ended by `tick`. Its buffer lives from here on; inside a nest the nest's first op, in the first iteration; absent: `tick`") \
    STATED(F, INT, buffer, "number of the buffer that is filled; of a store: that is stored") \
    MAY(F, INT, from, "of ring and move: number of the buffer that it comes from") \
    CHECKED(F, INT, bytes, "that move: through HBM, over the ring, or, of a move, inside the scratchpads")

/* S(ID, name, what, heading): the objects of the file, in the order of the documentation. */
#define PLAN_SECTIONS(S) \
    S(ROOT, root, "the plan", "the file itself") \
    S(SOLVER, solver, "the solver", "`solver`; its counters stand in `stats`, an object beside it") \
    S(GRAPH, graph, "the graph", "`graph`, of plans of graphs, and `passes`, an object of those that are not at their defaults (`tile` stands there where it is `auto`: a file without it was planned with `none`)") \
    S(TENSOR, tensor, "a tensor", "each of `graph.tensors`") \
    S(OP, op, "an op", "each of `graph.ops`") \
    S(NEST, nest, "a nest", "each of `graph.nests`, in order of time; absent: there is none") \
    S(BUNDLE, bundle, "a bundle", "each of `graph.bundles`, in order") \
    S(LAUNCH, launch, "a launch", "each of `graph.launches`, one per op") \
    S(TRANSFER, transfer, "a transfer", "each of `graph.transfers`, by tick") \
    S(BUFFER, buffer, "a buffer", "each of `buffers`")
// clang-format on

#define PLAN_MEMBER(KIND, key, need, standing, width, absent, help) RECORD_MEMBER_##KIND(key)
#define PLAN_STRUCT(ID, name, what, heading)                                                                 \
    struct plan_##name {                                                                                     \
        PLAN_##ID##_FIELDS(PLAN_MEMBER)                                                                      \
    };
PLAN_SECTIONS(PLAN_STRUCT)
#undef PLAN_STRUCT
#undef PLAN_MEMBER

#define PLAN_SECTION_ID(ID, name, what, heading) PLAN_##ID,
enum plan_section_id { PLAN_SECTIONS(PLAN_SECTION_ID) PLAN_SECTION_COUNT };
#undef PLAN_SECTION_ID

struct plan_section {
    const char *what; /* for errors: "the plan", "an op" */
    const char *heading;
    const struct field *fields;
    size_t count;
    size_t size; /* size of the struct */
};

extern const struct plan_section plan_sections[PLAN_SECTION_COUNT];
