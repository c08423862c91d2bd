/* The least traffic of each tensor alone. A plan moves a sum over tensors, and each tensor moves at least the
 * bytes that it would move with nothing else on chip. For one tensor of `whole` bytes:
 *
 * - The whole tensor is on chip only if it fits in all scratchpads together.
 * - Else only its tiles are on chip, for accesses of one nest; axis_reach bounds their number. A nest that
 *   serves accesses i to j contains all ops between them; where ops may be reordered, at least these two.
 * - An access off chip costs its own bytes or more. A tensor on chip that was not made there is loaded; a
 *   tensor made there that is an output or needed off chip later is stored: `whole` bytes or more. Extern ops
 *   access HBM only, and wipe the scratchpads.
 * - A tensor that the passes or the pattern keep off chip pays for every access.
 *
 * Evictions, dumps, moves and relayouts are covered by these cases. If ops may be reordered, accesses have no
 * order: then, in a set of accesses that pairwise fit in no nest, each costs its own bytes. The search for
 * axes has a step limit; after it, tensors cost their compulsory traffic. */
#include "nests/nest_candidates.h"

enum { MOST_STEPS = 40 * 1000 * 1000 };

struct lonely {
    const struct draft *x;
    const struct alone_asks *asks;
    struct axis_reach *reach;
    int32_t tensor, from, count; /* the tensor's accesses, in tensor_access */
    int64_t whole;
    bool is_output, is_given;
    bool any_wipes; /* some op of the graph wipes the scratchpads */
};

static const int64_t FAR = INT64_MAX / 4;

static const struct lx_access *alone_access_of(const struct lonely *t, int32_t k)
{
    return &t->x->accesses[t->x->tensor_access[t->from + k]];
}

static int32_t alone_op_at(const struct lonely *t, int32_t k)
{
    return t->x->access_op[t->x->tensor_access[t->from + k]];
}

static bool alone_is_extern(const struct lonely *t, int32_t k)
{
    return t->x->graph->ops[alone_op_at(t, k)].kind->traits & LX_EXTERN;
}

/* Bytes of an access outside of nests, at most the whole tensor. */
static int64_t alone_bytes_once(const struct lonely *t, int32_t k)
{
    int32_t access = t->x->tensor_access[t->from + k], op = t->x->access_op[access];
    return min_i64(t->whole, access_once_bytes(t->x->layouts, op, access - t->x->access_at[op]));
}

/* The compulsory traffic, for any room and any order. */
static int64_t must_cross(const struct lonely *t)
{
    int64_t sum = 0, read = 0, written = 0;
    bool extern_reads = false, extern_writes = false;
    int32_t writers = 0;
    for (int32_t k = 0; k < t->count; k++) {
        const struct lx_access *a = alone_access_of(t, k);
        writers += a->writes;
        if (alone_is_extern(t, k)) {
            sum += a->bytes;
            *(a->writes ? &extern_writes : &extern_reads) = true;
        } else
            *(a->writes ? &written : &read) = max_i64(a->writes ? written : read, alone_bytes_once(t, k));
    }
    /* A later write may replace an earlier value, or the given one, before any op reads it. */
    if (writers + t->is_given > 1) return sum;
    if (t->is_given || extern_writes) sum += read;
    if (t->is_output || extern_reads) sum += written;
    return sum;
}

static void better(int64_t *to, int64_t cost)
{
    *to = min_i64(*to, cost);
}

/* The tensor fits whole: cost[is on chip][HBM has it], updated access by access. */
static int64_t cost_whole(const struct lonely *t)
{
    int64_t cost[2][2] = {{FAR, 0}, {FAR, FAR}};
    for (int32_t k = 0; k < t->count; k++) {
        const struct lx_access *a = alone_access_of(t, k);
        int64_t next[2][2] = {{FAR, FAR}, {FAR, FAR}};
        better(&cost[1][1], cost[1][0] + t->whole);
        better(&cost[0][0], cost[1][0]);
        better(&cost[0][1], cost[1][1]);
        bool wiped = false; /* after the last access */
        for (int32_t o = k > 0 ? alone_op_at(t, k - 1) : 0; t->any_wipes && k > 0 && o <= alone_op_at(t, k);
             o++)
            wiped |=
                alone_op_at(t, k) != alone_op_at(t, k - 1) && t->x->graph->ops[o].kind->traits & LX_WIPES;
        if (wiped) cost[1][0] = cost[1][1] = FAR;
        if (!alone_is_extern(t, k)) {
            better(&cost[1][1], cost[0][1] + (a->reads ? t->whole : 0));
            if (!a->reads) better(&cost[1][0], cost[0][0]);
            better(&next[1][0], a->writes ? min_i64(cost[1][0], cost[1][1]) : cost[1][0]);
            if (!a->writes) better(&next[1][1], cost[1][1]);
        }
        /* Off chip; a copy on chip stays valid after a read. */
        better(&next[0][1], cost[0][1] + a->bytes);
        if (!a->reads) better(&next[0][1], cost[0][0] + a->bytes);
        if (!a->writes) better(&next[1][1], cost[1][1] + a->bytes);
        for (int i = 0; i < 4; i++) cost[i / 2][i % 2] = next[i / 2][i % 2];
    }
    int64_t stored = min_i64(min_i64(cost[0][1], cost[1][1]), cost[1][0] + t->whole);
    return t->is_output ? stored : min_i64(stored, min_i64(cost[0][0], cost[1][0]));
}

static bool tiles_fit(const struct lonely *t)
{
    if (axis_reach_steps(t->reach) > MOST_STEPS) return true;
    return ceil_div_i64(t->whole, axis_reach_tiles(t->reach)) <= t->asks->room;
}

/* Only tiles fit: cost[accesses served so far][HBM has it]. */
static int64_t cost_tiles(const struct lonely *t, int64_t (*cost)[2])
{
    for (int32_t k = 0; k <= t->count; k++) cost[k][0] = cost[k][1] = FAR;
    cost[0][1] = 0;
    for (int32_t k = 0; k < t->count; k++) {
        const struct lx_access *a = alone_access_of(t, k);
        int32_t to = k, op = alone_op_at(t, k); /* one nest serves accesses [k, to) */
        bool served = true;
        axis_reach_begin(t->reach, t->tensor);
        while (served && to < t->count) {
            for (; served && op <= alone_op_at(t, to); op++) served = axis_reach_add(t->reach, op);
            if (served && (to == k || alone_op_at(t, to) != alone_op_at(t, to - 1))) served = tiles_fit(t);
            to += served;
        }
        int64_t begun = a->reads ? cost[k][1] + t->whole : min_i64(cost[k][0], cost[k][1]);
        bool written = false;
        better(&cost[k + 1][1], (a->reads ? cost[k][1] : min_i64(cost[k][0], cost[k][1])) + a->bytes);
        for (int32_t j = k; j < to; j++) {
            written |= alone_access_of(t, j)->writes;
            better(&cost[j + 1][1], begun + (written ? t->whole : 0));
            if (written) better(&cost[j + 1][0], begun);
        }
    }
    return t->is_output ? cost[t->count][1] : min_i64(cost[t->count][0], cost[t->count][1]);
}

/* Greedily collects accesses that pairwise fit in no nest; each costs its own bytes. 0 for a single
 * access, which must_cross covers. */
static int64_t cost_unordered(const struct lonely *t, int32_t *apart)
{
    int32_t count = 0;
    int64_t sum = 0;
    for (int32_t k = 0; k < t->count; k++) {
        const struct lx_access *a = alone_access_of(t, k);
        bool alone = true;
        if (a->reads && a->writes) return 0;
        for (int32_t i = 0; i < count && alone; i++) {
            /* Can one nest serve both accesses, in some order of the ops? */
            int32_t one = apart[i];
            axis_reach_begin(t->reach, t->tensor);
            alone =
                !(axis_reach_add(t->reach, alone_op_at(t, one)) &&
                  (alone_op_at(t, one) == alone_op_at(t, k) || axis_reach_add(t->reach, alone_op_at(t, k))) &&
                  tiles_fit(t));
        }
        if (!alone) continue;
        apart[count++] = k;
        sum += min_i64(a->bytes, t->whole);
    }
    return count > 1 ? sum : 0;
}

static bool alone_is_barred(const struct lonely *t)
{
    const char *why;
    return exclusion_of_tensor(t->x->layouts, &t->x->how.passes, t->tensor, &why) != LX_EXCLUDED_NONE;
}

static void begin_tensor(struct lonely *t, int32_t tensor)
{
    enum lx_role role = t->x->graph->tensors[tensor].role;
    t->tensor = tensor;
    t->from = t->x->tensor_at[tensor];
    t->count = t->x->tensor_at[tensor + 1] - t->from;
    t->whole = tensor_bytes(t->x->layouts, tensor);
    t->is_output = lx_role_leaves(role);
    t->is_given = lx_role_arrives(role);
}

/* With unlimited room axes are never searched. */
static const struct alone_asks roomy = {.room = INT64_MAX, .any_order = true};

/* Sums all tensors; 0 if the sum is beyond 2^53. After a cancel, the remaining tensors count as fitting. */
static int64_t alone_sum_up(struct lonely *t)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < t->x->graph->tensor_count; i++) {
        begin_tensor(t, i);
        if (cancel_requested()) t->asks = &roomy;
        bool any = t->asks->any_order, whole = t->whole <= t->asks->room, barred = alone_is_barred(t);
        int64_t cost = barred ? 0 : must_cross(t);
        int32_t writers = 0;
        for (int32_t k = 0; k < t->count; k++) {
            if (barred) cost += alone_access_of(t, k)->bytes;
            writers += alone_access_of(t, k)->writes;
        }
        if (t->count > 0 && !barred && !any && whole) {
            cost = max_i64(cost, cost_whole(t));
        } else if (t->count > 0 && !barred && !whole && !(any && writers > 1)) {
            int64_t(*table)[2] = mem_alloc(((size_t)t->count + 1) * sizeof *table);
            cost = max_i64(cost, any ? cost_unordered(t, (int32_t *)(void *)table) : cost_tiles(t, table));
            mem_free(table);
        }
        if (!add_i64(sum, cost, &sum)) break;
    }
    return sum <= LX_INT_MAX ? sum : 0;
}

int64_t alone_traffic(const struct draft *x, const struct alone_asks *asks)
{
    SCOPED(arena_free) struct arena memory = {0};
    struct lonely t = {.x = x, .asks = asks};
    for (int32_t o = 0; o < x->graph->op_count; o++) t.any_wipes |= x->graph->ops[o].kind->traits & LX_WIPES;
    t.reach = axis_reach_new(x->layouts, &memory);
    return alone_sum_up(&t);
}

int64_t crossing_traffic(const struct draft *x)
{
    struct lonely t = {.x = x, .asks = &roomy};
    return alone_sum_up(&t);
}

bool nests_help(const struct draft *x, bool any_order)
{
    SCOPED(arena_free) struct arena memory = {0};
    struct alone_asks asks = {.any_order = any_order};
    struct lonely t = {.x = x, .asks = &asks, .reach = axis_reach_new(x->layouts, &memory)};
    bool help = false;
    for (int32_t i = 0; !help && i < x->graph->tensor_count; i++) {
        begin_tensor(&t, i);
        if (alone_is_barred(&t)) continue;
        /* Can a nest cut the tensor for two accesses (consecutive ones, if the order is given)? */
        for (int32_t k = 0; !help && k < t.count; k++)
            for (int32_t j = k + 1; !help && j < (any_order ? t.count : min_i64(k + 2, t.count)); j++) {
                int32_t last = alone_op_at(&t, j), op = alone_op_at(&t, k);
                bool taken = true;
                axis_reach_begin(t.reach, t.tensor);
                for (; taken && op <= last; op = any_order && op < last ? last : op + 1)
                    taken = axis_reach_add(t.reach, op);
                help = (taken && axis_reach_tiles(t.reach) > 1) || axis_reach_steps(t.reach) > MOST_STEPS;
            }
    }
    return help;
}
