/* Lower bounds on all plans that the engines may find, and the reason why a bound may not be tight. */
#include "search/search_steps.h"
#include "nests/nest_candidates.h"
#include "search/keep.h"
#include "search/time.h"

/* Least traffic in unlimited scratchpads. Nests and evictions may go below the best placement of whole stays;
 * a border can cut a stay as an eviction does. */
static int64_t least_unlimited(const struct draft *x, bool borderless)
{
    int64_t bytes = x->least_bytes;
    if (x->how.passes.tile != LX_TILE_NONE && nests_help(x, x->how.passes.reorder))
        bytes = min_i64(bytes, crossing_traffic(x));
    if (x->how.passes.evict || borderless) bytes = min_i64(bytes, evict_least(x));
    return bytes;
}

/* True if the draft equals the one for unlimited scratchpads with these borders. */
static bool is_unlimited(const struct draft *x, const int32_t *borders)
{
    const struct decisions *how = &x->how;
    bool plain = how->cut_count == 0 && how->move_count == 0 && how->apart_count == 0 &&
                 how->loaded_count == 0 && !how->lax && how->nest_count == 0 &&
                 how->passes.clone != LX_CLONE_HEURISTIC && borders == how->borders;
    for (int32_t i = 0; plain && i < x->problem.count; i++) plain = x->buffers[i].size <= x->problem.capacity;
    return plain;
}

/* The heuristic clone rule copies inputs even at a loss, so the bound counts only copies that pay. */
static bool unlimited_traffic(const struct draft *x, const int32_t *borders, int32_t border_count,
                              int64_t *bytes, lx_status *st)
{
    struct decisions how = {.passes = x->how.passes,
                            .order = x->how.order,
                            .divided = x->how.divided,
                            .borders = borders,
                            .border_count = border_count,
                            .unlimited = true};
    SCOPED(arena_free) struct arena scratch = {0};
    SCOPED(draft_free) struct draft plain = {0};
    bool borderless = borders && border_count == 0;
    if (is_unlimited(x, borders)) return *bytes = least_unlimited(x, borderless), true;
    if (how.passes.clone == LX_CLONE_HEURISTIC) how.passes.clone = LX_CLONE_AUTO;
    bool ok = draft_make(x->divided, &how, &scratch, &plain, st);
    if (ok) *bytes = least_unlimited(&plain, borderless);
    return ok;
}

bool perfect_traffic(const struct draft *x, int64_t *bytes, lx_status *st)
{
    return unlimited_traffic(x, x->how.borders, x->how.border_count, bytes, st);
}

static bool borderless_traffic(const struct draft *x, int64_t *bytes, lx_status *st)
{
    static const int32_t none[] = {0};
    return unlimited_traffic(x, none, 0, bytes, st);
}

/* Whether the ops have other orders: some op accesses nothing that the op before it writes. */
static bool bounds_other_orders(const struct lx_graph *g)
{
    for (int32_t o = 1; o < g->op_count; o++) {
        bool follows = false;
        for (int i = 0; i < op_operand_count(&g->ops[o]); i++)
            follows |= op_operand_made(&g->ops[o - 1], op_operand(&g->ops[o], i)) >= 0;
        if (!follows) return true;
    }
    return false;
}

/* A draft without nests, cuts or limits of the scratchpads, for bounds on plans with nests. */
static bool nest_bound_draft(const struct search *search, struct alone_asks *asks, struct arena *memory,
                             struct draft *plain)
{
    struct decisions how = {.passes = search->best.draft.how.passes, .unlimited = true};
    const struct lx_device *device = &search->divided->layouts->graph->device;
    *asks = (struct alone_asks){.any_order = how.passes.reorder &&
                                             bounds_other_orders(search->divided->layouts->graph)};
    if (how.passes.clone == LX_CLONE_HEURISTIC) how.passes.clone = LX_CLONE_AUTO;
    if (!mul_i64(lx_device_usable(device), search->divided->cores, &asks->room)) asks->room = INT64_MAX;
    return draft_make(search->divided, &how, memory, plain, search->st);
}

/* A lower bound on HBM traffic for any divisions, order, evictions and moves. */
bool nest_bound(const struct search *search, bool *may_help, int64_t *bytes)
{
    SCOPED(arena_free) struct arena memory = {0};
    SCOPED(draft_free) struct draft plain = {0};
    struct alone_asks asks;
    *may_help = false;
    if (!engine_runs(search, ENGINE_NESTS)) return true;
    bool ok = nest_bound_draft(search, &asks, &memory, &plain);
    *may_help = ok && nests_help(&plain, asks.any_order);
    if (*may_help) *bytes = alone_traffic(&plain, &asks);
    if (*may_help) LOG(attempt, "with nests no plan below HBM %" PRId64, *bytes);
    return ok;
}

bool nest_bound_below(const struct search *search, int64_t known, int64_t *bytes)
{
    SCOPED(arena_free) struct arena memory = {0};
    SCOPED(draft_free) struct draft plain = {0};
    struct alone_asks asks;
    bool ok = nest_bound_draft(search, &asks, &memory, &plain);
    *bytes = ok ? alone_traffic(&plain, &asks) : 0;
    if (ok && *bytes < known && !asks.any_order)
        *bytes = max_i64(*bytes, together_traffic(&plain, asks.room, known));
    if (ok) LOG(attempt, "with nests on shared scratchpads no plan below HBM %" PRId64, *bytes);
    return ok;
}

bool bounds_with_nests(struct search *search)
{
    if (!nest_bound(search, &search->bound_with_nests, &search->bound)) return false;
    if (!search->bound_with_nests) search->skipped |= 1u << ENGINE_NESTS;
    return true;
}

/* The bound of the chosen divisions, or of all if co-optimisation ran. */
static bool bound_without_nests(struct search *search)
{
    const struct attempt *best = &search->best;
    const char *option = NULL; /* of an engine that may go below the bound of the chosen divisions */
    bool ok = true;
    for (enum engine e = 0; e < ENGINE_COUNT && asks_traffic(search) && !option; e++)
        if (engine_runs(search, e)) option = engine_option(e);
    search->bound = best->bound;
    search->unproved = best->open_relayouts && search->effort.solver->caps & LX_CAN_PROVE
                           ? "not proved optimal: not all ways to decide relayouts were tried"
                           : NULL;
    if (search->bundles_limited && !search->joint.searched) {
        ok = borderless_traffic(&best->draft, &search->bound, search->st);
        search->unproved = "not proved optimal: the bound leaves out how ops are bundled";
    } else if (search->joint.searched) {
        search->unproved = "not proved optimal: the search over divisions ended above the bound";
    } else if (option) {
        search->bound = best->perfect_bytes;
        search->unproved =
            arena_format(search->memory,
                         "not proved optimal: with --%s the bound leaves out addresses of buffers", option);
    }
    return ok;
}

bool bounds_find(struct search *search)
{
    search->bundles_limited = asks_traffic(search) && bundles_are_limited(search);
    if (asks_time(search)) search->bound_us = time_bound_divided(&search->best.draft, NULL);
    if (!search->bound_with_nests) return bound_without_nests(search);
    search->unproved = "not proved optimal: the bound has tensors in the best nests and splits for each";
    /* The search over divisions did not consider nests. */
    search->joint.bound_bytes = min_i64(search->joint.bound_bytes, search->bound);
    return true;
}

bool bounds_raise(struct search *search)
{
    int64_t least = 0, known = search->best.hbm_bytes;
    if (search_is_beaten(search)) known = search->rival_bytes;
    if (known <= search->bound) return true;
    /* The model of keeping has the present borders of bundles, which may be merged, and no nests. */
    if (!search->bound_with_nests && (search->bundles_limited || search->joint.searched)) return true;
    bool ok = search->bound_with_nests ? nest_bound_below(search, known, &least) : keep_bound(search, &least);
    if (!ok) return false;
    search->bound = max_i64(search->bound, least);
    return true;
}
