/* What being on chip or off costs, so that the problem's cost and a constant are the very traffic of
 * traffic.c, whatever is placed. Off chip, every access of a stay costs its bytes. On chip a stay that
 * begins with a read is loaded, unless it is a relayout whose source is on chip: a charge on the copy
 * without its source. What a stay writes is stored if, before the next write, somebody needs it in HBM:
 * always, if an access that no stay serves reads it, a stay begins with a load, or it is a graph output;
 * else if a relayout's copy is off chip, which is then read, or its source, and it is then loaded: a
 * charge on the stay with any of those off. All stays that a charge binds are of one tensor. What off and
 * on have in common is in the constant. A stay that saves nothing whatever the others of its tensor do is
 * barred, which may leave others without use: so until nothing changes. */
#include "stays/draft.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/vec.h"

#include <stdlib.h>

/* One stay of the tensor under way. */
struct price {
    int64_t off, on;
};

struct pricing {
    struct draft *x;
    struct price *of; /* per stay */
    VEC(struct lx_charge) charges;
    /* Of the tensor under way: its stays are number `tensor` and [later, end). */
    int32_t tensor, later, end;
    int64_t whole, fixed; /* bytes: all of it; what is moved in any case */
    size_t first_charge;
    bool sizes_count; /* else what is too large is priced as if it were not */
};

static bool stay_prices_is_barred(const struct pricing *p, int32_t stay)
{
    enum lx_bar bar = p->x->stays[stay].bar;
    return bar && (p->sizes_count || bar != LX_BAR_SIZE);
}

/* The stay that may serve an access, or -1. */
static int32_t stay_prices_server(const struct pricing *p, int32_t access)
{
    int32_t stay = p->x->accesses[access].stay;
    return stay >= 0 && !stay_prices_is_barred(p, stay) ? stay : -1;
}

static int32_t stay_prices_source_of(const struct pricing *p, int32_t stay)
{
    int32_t source = p->x->stays[stay].ring_source;
    return source >= 0 && !stay_prices_is_barred(p, source) ? source : -1;
}

/* The stays of the tensor one after the other; -1 begins, -1 ends. */
static int32_t next_stay(const struct pricing *p, int32_t stay)
{
    if (stay < 0) return p->tensor;
    int32_t next = stay == p->tensor ? p->later : stay + 1;
    return next < p->end ? next : -1;
}

static void stay_prices_group_of(struct pricing *p, const int32_t *members, int32_t count,
                                 struct lx_group *out)
{
    *out = (struct lx_group){arena_copy_array(p->x->memory, members, (size_t)count, sizeof *members), count};
}

static void charge_load(struct pricing *p, int32_t stay)
{
    struct lx_charge c = {.cost = stay_load_bytes(p->x, stay)};
    int32_t source = stay_prices_source_of(p, stay);
    if (p->x->stays[stay].begins_written) return;
    if (source < 0) {
        p->of[stay].on += c.cost;
        return;
    }
    stay_prices_group_of(p, &stay, 1, &c.all_on);
    stay_prices_group_of(p, &source, 1, &c.all_off);
    VEC_PUSH(&p->charges, c);
}

/* Who needs in HBM what a stay has written. */
struct needs {
    bool always;
    VEC(int32_t) any_off;
};

static void need_if_off(struct needs *n, int32_t stay, int32_t writer)
{
    for (size_t i = 0; i < n->any_off.count; i++)
        if (n->any_off.at[i] == stay) return;
    if (!(stay == writer)) VEC_PUSH(&n->any_off, stay);
}

/* Of one access behind the write. */
static void add_need(const struct pricing *p, int32_t access, int32_t writer, struct needs *n)
{
    const struct draft *x = p->x;
    int32_t stay = stay_prices_server(p, access);
    if (!x->accesses[access].reads || stay == writer) return;
    bool begins = stay >= 0 && x->stays[stay].first == x->access_op[access] && !x->stays[stay].begins_written;
    int32_t source = begins ? stay_prices_source_of(p, stay) : -1;
    if (stay < 0 || (begins && source < 0)) {
        n->always = true;
        return;
    }
    need_if_off(n, stay, writer);
    if (begins) need_if_off(n, source, writer);
}

/* The store of what access number k of the tensor writes. */
static void charge_store(struct pricing *p, int32_t k)
{
    const struct draft *x = p->x;
    struct lx_charge c = {.cost = p->whole};
    struct needs n = {0};
    int32_t writer = stay_prices_server(p, x->tensor_access[k]), end = x->tensor_at[p->tensor + 1];
    bool rewritten = false;
    if (writer < 0) return;
    if (stay_parts(x, writer) > 1) {
        p->of[writer].on += p->whole * (2 * stay_parts(x, writer) - 1);
        return;
    }
    for (int32_t i = k + 1; i < end && !rewritten; i++) {
        add_need(p, x->tensor_access[i], writer, &n);
        rewritten = x->accesses[x->tensor_access[i]].writes;
    }
    n.always |= !rewritten && lx_role_leaves(x->graph->tensors[p->tensor].role);
    if (n.always)
        p->of[writer].on += p->whole;
    else if (n.any_off.count) {
        stay_prices_group_of(p, &writer, 1, &c.all_on);
        stay_prices_group_of(p, n.any_off.at, (int32_t)n.any_off.count, &c.any_off);
        VEC_PUSH(&p->charges, c);
    }
    VEC_FREE(&n.any_off);
}

/* All prices of the tensor, with the bars that there are. */
static void stay_prices_price_tensor(struct pricing *p)
{
    const struct draft *x = p->x;
    p->fixed = 0;
    p->charges.count = p->first_charge;
    for (int32_t s = next_stay(p, -1); s >= 0; s = next_stay(p, s)) p->of[s] = (struct price){0};
    for (int32_t k = x->tensor_at[p->tensor]; k < x->tensor_at[p->tensor + 1]; k++) {
        int32_t access = x->tensor_access[k], stay = stay_prices_server(p, access);
        *(stay < 0 ? &p->fixed : &p->of[stay].off) += x->accesses[access].bytes;
        if (x->accesses[access].writes) charge_store(p, k);
    }
    for (int32_t s = next_stay(p, -1); s >= 0; s = next_stay(p, s))
        if (!(stay_prices_is_barred(p, s))) charge_load(p, s);
}

static bool stay_prices_has(const struct lx_group *g, int32_t stay)
{
    for (int32_t i = 0; i < g->count; i++)
        if (g->at[i] == stay) return true;
    return false;
}

/* The most that placing it can save. */
static int64_t most_gain(const struct pricing *p, int32_t stay)
{
    int64_t gain = p->of[stay].off - p->of[stay].on;
    for (size_t i = p->first_charge; i < p->charges.count; i++)
        if (stay_prices_has(&p->charges.at[i].all_off, stay) ||
            stay_prices_has(&p->charges.at[i].any_off, stay))
            gain += p->charges.at[i].cost;
    return gain;
}

/* The first op behind the stay that is not in its bundle. */
static const struct lx_op *op_behind(const struct draft *x, int32_t stay)
{
    const struct lx_stay *s = &x->stays[stay];
    for (int32_t k = x->tensor_at[s->tensor]; k < x->tensor_at[s->tensor + 1]; k++) {
        int32_t op = x->access_op[x->tensor_access[k]];
        if (op > s->last && x->bundle_of[op] != x->bundle_of[s->last]) return &x->graph->ops[op];
    }
    return NULL;
}

static void bar_stay(struct draft *x, int32_t stay)
{
    struct lx_stay *s = &x->stays[stay];
    const struct lx_op *behind = op_behind(x, stay);
    struct lx_buffer *b = &x->buffers[stay];
    bool called = behind && behind->kind->traits & LX_EXTERN;
    s->bar = called ? LX_BAR_EXTERN : LX_BAR_NO_GAIN;
    s->ring_source = -1;
    b->reason = s->begins_written ? "no op reads it from the scratchpad"
                                  : "read only once: a copy on chip would save nothing";
    if (called) b->reason = arena_format(x->memory, "op %s is extern and works on HBM only", behind->name);
}

/* Bars what saves nothing; `*changed`: there was such a stay. */
static void bar_useless(struct pricing *p, bool *changed)
{
    struct draft *x = p->x;
    *changed = false;
    for (int32_t s = next_stay(p, -1); s >= 0; s = next_stay(p, s)) {
        if (x->stays[s].bar || most_gain(p, s) > 0) continue;
        *changed = true;
        bar_stay(x, s);
    }
    for (int32_t s = next_stay(p, -1); s >= 0; s = next_stay(p, s))
        if (x->stays[s].ring_source >= 0) x->stays[s].ring_source = stay_prices_source_of(p, s);
}

/* The least that a stay and the copies of it cost where there is room for all. */
static int64_t stay_prices_least_of(const struct pricing *p, int32_t stay)
{
    const struct draft *x = p->x;
    const struct lx_charge *store = NULL;
    int64_t off = p->of[stay].off, stored, kept;
    for (size_t i = p->first_charge; i < p->charges.count; i++)
        if (p->charges.at[i].any_off.count && p->charges.at[i].all_on.at[0] == stay)
            store = &p->charges.at[i];
    stored = p->of[stay].on + (store ? store->cost : 0);
    kept = p->of[stay].on;
    for (int32_t s = next_stay(p, -1); s >= 0; s = next_stay(p, s)) {
        int64_t either = min_i64(p->of[s].off, p->of[s].on);
        if (x->stays[s].ring_source != stay) continue;
        off += min_i64(p->of[s].off, p->of[s].on + stay_load_bytes(x, s));
        stored += either;
        kept += store && stay_prices_has(&store->any_off, s) ? p->of[s].on : either;
    }
    return min_i64(off, min_i64(stored, kept));
}

static void settle_tensor(struct pricing *p)
{
    bool changed = true;
    p->first_charge = p->charges.count;
    p->whole = tensor_bytes(p->x->layouts, p->tensor);
    /* Of what is too large: would it save anything? If not, that is why it is barred. */
    bool any = false;
    for (int32_t s = next_stay(p, -1); s >= 0; s = next_stay(p, s)) any |= p->x->stays[s].bar == LX_BAR_SIZE;
    p->sizes_count = false;
    if (any) stay_prices_price_tensor(p);
    for (int32_t s = next_stay(p, -1); any && s >= 0; s = next_stay(p, s))
        if (p->x->stays[s].bar == LX_BAR_SIZE && most_gain(p, s) <= 0) bar_stay(p->x, s);
    p->sizes_count = true;
    do {
        stay_prices_price_tensor(p);
        bar_useless(p, &changed);
    } while (changed);
    /* The prices go into the buffers, what cannot be saved into the constant. */
    struct draft *x = p->x;
    x->base_bytes += p->fixed;
    x->least_bytes += p->fixed;
    for (int32_t s = next_stay(p, -1); s >= 0; s = next_stay(p, s)) {
        struct lx_buffer *b = &x->buffers[s];
        struct lx_charge on = {0};
        int64_t both = min_i64(p->of[s].off, p->of[s].on);
        x->base_bytes += both;
        if (x->stays[s].ring_source < 0) x->least_bytes += stay_prices_least_of(p, s);
        x->copy_bytes[s] = p->of[s].on;
        b->spill_cost = p->of[s].off - both;
        on.cost = p->of[s].on - both;
        if (!on.cost) continue;
        stay_prices_group_of(p, &s, 1, &on.all_on);
        VEC_PUSH(&p->charges, on);
    }
}

void draft_prices(struct draft *x)
{
    struct pricing p = {.x = x, .end = x->graph->tensor_count};
    size_t n = (size_t)x->problem.count;
    p.of = mem_zeroed(n + 1, sizeof *p.of);
    x->copy_bytes = arena_array(x->memory, n, sizeof *x->copy_bytes);
    for (p.tensor = 0; p.tensor < x->graph->tensor_count; p.tensor++) {
        p.later = p.end;
        while (p.end < x->problem.count && x->stays[p.end].tensor == p.tensor) p.end++;
        settle_tensor(&p);
    }
    struct lx_bonds *bonds = &x->problem.bonds;
    bonds->charge_count = (int32_t)p.charges.count;
    bonds->charges = arena_copy_array(x->memory, p.charges.at, p.charges.count, sizeof *p.charges.at);
    VEC_FREE(&p.charges);
    mem_free(p.of);
}
