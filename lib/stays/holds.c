/* Nests in a draft: how often a tensor is accessed and filled, and what is held of it meanwhile. A tensor
 * that the ops of a nest access is cut by the levels that index it. On chip it is held with the slice
 * that the levels up to its hold fix: filled when one of these goes on, there while those inside run.
 * With the innermost level it is a tile that lives from its first to its last access in the body; with
 * any other it covers the whole run, since the loops inside come back to its first access. What an op
 * sums over a level is held outside all levels of the sum; or its parts come and go. */
#include "stays/draft.h"
#include "base/fail.h"

static const struct lx_nest *holds_nest_of(const struct draft *x, int32_t access)
{
    return x->held && x->held[access].nest >= 0 ? &x->how.nests[x->held[access].nest] : NULL;
}

static int holds_level_of(const struct draft *x, int32_t tensor, int32_t nest, const struct nest_tensor *t)
{
    for (int32_t i = 0; i < x->how.hold_count; i++)
        if (x->how.holds[i].tensor == tensor && x->how.holds[i].nest == nest) return x->how.holds[i].level;
    /* The smallest tile; of a sum the smallest that is complete when it leaves. */
    int level = 0;
    for (int l = 0; l < x->how.nests[nest].level_count && !(t->summed & level_bit(l)); l++)
        if (t->indexed & level_bit(l)) level = l + 1;
    return level;
}

void draft_holds(struct draft *x)
{
    int32_t count = x->access_at[x->graph->op_count], *before;
    if (x->how.nest_count == 0) return;
    x->held = arena_array(x->memory, (size_t)count, sizeof *x->held);
    before = arena_array(x->memory, (size_t)x->graph->tensor_count, sizeof *before); /* 1 + its last access */
    for (int32_t a = 0; a < count; a++) {
        int32_t nest = nest_of_op(x->how.nests, x->how.nest_count, x->access_op[a]),
                tensor = x->accesses[a].tensor, one = before[tensor] - 1;
        before[tensor] = a + 1;
        if (nest >= 0 && one >= 0 && x->held[one].nest == nest) { /* one and the same for all of the nest */
            x->held[a] = x->held[one];
            continue;
        }
        x->held[a].nest = nest;
        if (nest < 0) continue;
        x->held[a].tensor = nest_tensor_of(x->layouts, &x->how.nests[nest], tensor);
        x->held[a].level = holds_level_of(x, tensor, nest, &x->held[a].tensor);
    }
}

/* How often the parts of a sum are written if it is held up to `level`. */
static int64_t holds_sum_parts(const struct lx_nest *n, const struct nest_tensor *t, int level)
{
    return nest_product(n, t->summed & levels_to(level));
}

int64_t held_again_bytes(const struct draft *x, int32_t access, int64_t bytes)
{
    const struct lx_nest *n = holds_nest_of(x, access);
    if (!n || !x->accesses[access].writes) return 0;
    return bytes * (holds_sum_parts(n, &x->held[access].tensor, n->level_count) - 1);
}

int64_t held_access_bytes(const struct draft *x, int32_t access, int64_t bytes)
{
    const struct lx_nest *n = holds_nest_of(x, access);
    if (!n) return bytes;
    const struct nest_tensor *t = &x->held[access].tensor;
    int64_t times = nest_product(n, levels_to(n->level_count) & ~t->indexed);
    return x->accesses[access].writes ? bytes * (2 * times - 1) : bytes * times;
}

static int32_t access_of_stay(const struct draft *x, int32_t stay)
{
    return x->access_at[x->stays[stay].view_op] + x->stays[stay].view_operand;
}

int64_t stay_fills(const struct draft *x, int32_t stay)
{
    return nest_fills(x->how.nests, x->how.nest_count, x->stays[stay].view_op, x->stays[stay].hold);
}

int64_t stay_load_bytes(const struct draft *x, int32_t stay)
{
    int32_t access = access_of_stay(x, stay);
    const struct lx_nest *n = holds_nest_of(x, access);
    int64_t whole = tensor_bytes(x->layouts, x->stays[stay].tensor);
    return n ? whole * nest_product(n, levels_to(x->held[access].level) & ~x->held[access].tensor.indexed)
             : whole;
}

int64_t stay_parts(const struct draft *x, int32_t stay)
{
    int32_t access = access_of_stay(x, stay);
    const struct lx_nest *n = holds_nest_of(x, access);
    return n ? holds_sum_parts(n, &x->held[access].tensor, x->held[access].level) : 1;
}

struct lx_core_view held_view(const struct draft *x, int32_t access)
{
    const struct lx_nest *n = holds_nest_of(x, access);
    const struct lx_layout *y = &x->layouts->layouts[x->accesses[access].tensor];
    struct lx_core_view v = access_view(x, access);
    return n ? core_view_held(y, n, &x->held[access].tensor, x->held[access].level, v) : v;
}

bool held_covers(const struct draft *x, int32_t access, int32_t *first, int32_t *last)
{
    const struct lx_nest *n = holds_nest_of(x, access);
    if (!n || x->held[access].level == n->level_count) return false;
    *first = n->first;
    *last = n->last;
    return true;
}

/* A loop inside comes back to every access of what is made in the nest and held outside of it: then one
 * buffer must serve them all. */
bool held_by_one(const struct draft *x, int32_t access)
{
    const struct lx_nest *n = holds_nest_of(x, access);
    return n && x->held[access].tensor.made && x->held[access].level < n->level_count;
}

bool held_for_all(const struct draft *x, int32_t before, int32_t access)
{
    const struct lx_nest *n = holds_nest_of(x, access);
    return n && x->held[before].nest == x->held[access].nest && x->held[access].level < n->level_count;
}

bool held_together(const struct draft *x, int32_t before, int32_t access)
{
    if (!x->held || x->held[before].nest == x->held[access].nest) return true;
    return !(holds_nest_of(x, before) && x->held[before].level > 0) &&
           !(holds_nest_of(x, access) && x->held[access].level > 0);
}
